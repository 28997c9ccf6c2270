import { proveMode } from './questions.ts';

proveMode({ mode: 'userspace', usualTcpProbe: 'connect', toldTables: /fairlead$/ });
