import type { TestedBound } from './bound.ts';

/** Filled by tests that ask the neighbour too. All bounds, with the words of their tests: docs/limits.md. */
export const TESTED: readonly TestedBound[] = [
  { name: 'write queue', limit: 'a turn', test: 'src/agent/fairness.test.ts' },
  { name: 'computing rows', limit: 'a turn', test: 'src/forwarding/fairness.test.ts' },
  { name: 'history', limit: '10,000', test: 'src/agent/history/ring.test.ts' },
  { name: 'Events', limit: '32', test: 'src/agent/kubernetes-events.test.ts' },
  { name: 'status socket', limit: '64', test: 'src/agent/servers/status-socket.test.ts' },
  { name: 'view', limit: '64', test: 'src/wings/view/server-connections.test.ts' },
  {
    name: 'loopback relay',
    limit: 'nofile/4',
    test: 'src/agent/servers/localhost-relay.test.ts',
  },
];
