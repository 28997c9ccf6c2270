import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentNode } from '../../../src/agent/servers/agent-node.ts';
import { runStatusSocket } from '../../../src/agent/servers/status-socket.ts';
import { TrafficPages } from '../../../src/agent/servers/traffic-pages.ts';
import { STATUS_SOCKET } from '../../../src/commands/run/folder.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { NodeBench } from '../scale/node-bench.ts';

/** The agent of the measurement, in a process and a network namespace of its own. */
const [runFolder = '', services = '', endpointsPerService = ''] = process.argv.slice(2);
const bench = new NodeBench({
  size: { services: Number(services), endpointsPerService: Number(endpointsPerService) },
});
await bench.tell();
await bench.coldStartMs();
const { agent, plane } = bench;
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
await runStatusSocket(
  {
    path: join(runFolder, STATUS_SOCKET),
    snapshot: () => agent.snapshot(),
    counters: () => plane.counters(),
    node: () =>
      ({
        pid: process.pid,
        version: '',
        nodeName: 'node1',
        mode: 'nftables',
        networkNamespace: readlinkSync('/proc/self/ns/net'),
        configuration: '',
        view: agent.table.view,
        facts: agent.facts,
        missing: [],
      }) satisfies AgentNode,
    rows: () => ({ rows: [] }),
    history: () => {
      throw new Error('nothing asks for the history here');
    },
    traffic: new TrafficPages({
      table: () => agent.table,
      plane,
      monotonicMs: () => systemClock.monotonicMs(),
    }),
    onProblem: (error) => console.error(error),
    onOpen: () => console.log('open'),
  },
  stop.signal,
);
process.exit(0);
