import { proveMode } from './questions.ts';

proveMode({ mode: 'iptables', usualTcpProbe: 'syn', toldTables: /./ });
