import { proveHooks } from './hooks.ts';
import { proveMode } from './questions.ts';

proveMode(
  {
    mode: 'tc-ebpf',
    usualTcpProbe: 'syn',
    usualHostProbe: 'connect',
    toldTables: /fairlead$|^ebpf$/,
    needsNoRoute: true,
  },
  (scene) => proveHooks(scene, 'ingress'),
);
