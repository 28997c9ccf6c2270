import { proveMode } from './questions.ts';

proveMode({ mode: 'nftables', usualTcpProbe: 'syn', toldTables: /fairlead$/ });
