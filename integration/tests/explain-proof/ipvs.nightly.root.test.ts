import { WITHOUT_IPVS } from '../../../src/linux/ipvs/testing/load-ipvs.ts';
import { proveMode } from './questions.ts';

proveMode({
  mode: 'ipvs',
  usualTcpProbe: 'syn',
  toldTables: /fairlead$/,
  leftBehind: /^a connection of IPVS/,
  skip: WITHOUT_IPVS,
});
