import { PORTS_FAULT } from '../faults/plane/forwarder/ports-fault.ts';
import type { Trap } from './trap.ts';

/** Each was met by a prototype; docs/faults.md has the table of what caught them. */
export const TRAPS: readonly Trap[] = [
  {
    name: 'ports are not used again',
    title:
      'ports of connections that have ended are not used again for a minute (`tcp_tw_reuse` of the kernel as it was)',
    planted: [],
    act: async (scene) => {
      await scene.onNode('sysctl', '-qw', 'net.ipv4.tcp_tw_reuse=2');
    },
    caughtBy: PORTS_FAULT,
  },
];
