import { proveHooks } from './hooks.ts';
import { proveMode } from './questions.ts';

proveMode(
  {
    mode: 'socket-ebpf',
    usualTcpProbe: 'connect',
    toldTables: /fairlead$|^ebpf$/,
    needsNoRoute: true,
  },
  (scene) => proveHooks(scene, 'connect'),
);
