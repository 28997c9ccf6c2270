import { WITHOUT_IPVS } from '../../../src/linux/ipvs/testing/kernel-ipvs.ts';
import { proveMode } from './questions.ts';

proveMode({ mode: 'ipvs', usualTcpProbe: 'syn', toldTables: /fairlead$/, skip: WITHOUT_IPVS });
