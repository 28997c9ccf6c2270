import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { History } from '../../../src/agent/history/history.ts';
import { historyPage } from '../../../src/agent/history/history-page.ts';
import type { AgentNode } from '../../../src/agent/servers/agent-node.ts';
import { RowPages } from '../../../src/agent/servers/row-pages.ts';
import { runStatusSocket } from '../../../src/agent/servers/status-socket.ts';
import { TrafficPages } from '../../../src/agent/servers/traffic-pages.ts';
import { statusPage } from '../../../src/agent/status-page.ts';
import { giveBackMemory } from '../../../src/commands/run/give-back-memory.ts';
import { STATUS_SOCKET } from '../../../src/config/run-folder.ts';
import { SILENT_LOGGER } from '../../../src/log/testing/silent-logger.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { NodeBench } from '../scale/node-bench.ts';
import { Bursts } from './bursts.ts';

/** The agent of the measurement, in a process and a network namespace of its own. */
const [runFolder = '', services = '', endpointsPerService = ''] = process.argv.slice(2);
const BURST_MS = 2_000;
const history = new History({ mode: 'nftables', version: '', clock: systemClock });
const bursts = new Bursts();
const bench = new NodeBench({
  size: { services: Number(services), endpointsPerService: Number(endpointsPerService) },
  observers: [history.observer],
  onObject: (kind, raw) => bursts.take(kind, raw),
});
await bench.tell();
await bench.coldStartMs();
const stop = new AbortController();
// As the agent does: what the start has left would make every collection longer.
await giveBackMemory({ clock: systemClock, log: SILENT_LOGGER }, stop.signal);
const { agent, plane } = bench;
const rows = new RowPages(() => agent.table);
const NO_ONE = () => ({ exists: true, endpoints: 0, ready: 0 });
process.once('SIGTERM', () => stop.abort());
process.on('SIGUSR2', async () => {
  console.log(JSON.stringify(await bursts.run(bench, BURST_MS)));
});
// What it holds when everything that could be collected is.
process.on('SIGHUP', async () => {
  await giveBackMemory({ clock: systemClock, log: SILENT_LOGGER }, stop.signal);
  console.log(JSON.stringify({ heldBytes: process.memoryUsage.rss() }));
});
await runStatusSocket(
  {
    path: join(runFolder, STATUS_SOCKET),
    snapshot: () => statusPage({ agent, plane }),
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
    rows: (request) => rows.page(request),
    history: (request) => historyPage(request, { history, clock: systemClock, serviceNow: NO_ONE }),
    traffic: new TrafficPages({
      run: 'measured',
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
