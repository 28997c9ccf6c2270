import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { Command } from 'commander';
import { formatTable } from '../../../lab/host/table.ts';
import { History } from '../../../src/agent/history/history.ts';
import { historyPage } from '../../../src/agent/history/page.ts';
import { Stage } from '../../../src/agent/testing/stage.ts';
import type { SliceObject } from '../../../src/cluster/objects.ts';
import type { Stamp } from '../../../src/cluster/stamp.ts';
import { endpoint, service, slice } from '../../../src/forwarding/testing/objects.ts';
import { enterOwnNetwork } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { NFTABLES } from '../../../src/modes/nftables.ts';
import { systemClock } from '../../../src/time/clock.ts';

const SERVICES = 200;
const ENDPOINTS = 5;
const CHANGES = 1_000;
const PAIRS = 20;
/** Changes that arrive together, as of a rollout. */
const AT_ONCE = 8;
const LARGE = 1_000;
const SETTLE_MS = 20;

/** CPU of the agent for a change with and without a history, and what the history alone costs. */
export const command = new Command().action(async () => {
  enterOwnNetwork();
  const single = await comparePairs(1);
  const together = await comparePairs(AT_ONCE);
  const full = measureFull();
  const rows = [
    ['figure', 'value'],
    ['kernel', 'nftables, real'],
    ['CPU of a change alone, µs: without, with, ratio', single],
    [`CPU of one of ${AT_ONCE} together, µs: without, with, ratio`, together],
    ['entries of a full history', String(full.entries)],
    ['memory of a full history, MB', full.megabytes],
    ['a page of it, ms, median of 50', full.pageMs.toFixed(2)],
    [`a slice of ${LARGE} endpoints that all flip, ms, median of 200`, full.flipMs.toFixed(2)],
  ];
  console.log(formatTable(rows));
});

/** Medians of interleaved pairs. */
async function comparePairs(atOnce: number): Promise<string> {
  const without: number[] = [];
  const withHistory: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    without.push(await cpuPerChangeUs(undefined, atOnce));
    withHistory.push(await cpuPerChangeUs(newHistory(), atOnce));
  }
  const ratios = withHistory.map((us, index) => us / (without[index] ?? us));
  const [before, after] = [median(without).toFixed(1), median(withHistory).toFixed(1)];
  return `${before}  ${after}  ${median(ratios).toFixed(3)}`;
}

function newHistory(): History {
  return new History({ mode: 'nftables', version: '', clock: systemClock });
}

async function cpuPerChangeUs(history: History | undefined, atOnce: number): Promise<number> {
  const observers = history === undefined ? [] : [history.observer];
  const plane = NFTABLES.open({});
  const stage = new Stage(systemClock, { observers, plane });
  const isWritten = (): boolean => {
    const { rows, conditions } = stage.agent.snapshot();
    return conditions.firstSync.isTrue && rows.pending === 0 && !stage.agent.table.hasChanges;
  };
  await using _ = stage.start();
  await turn();
  for (let index = 0; index < SERVICES; index++) {
    const clusterIPs = [`10.96.${index >> 8}.${index & 255}`];
    stage.source.service(service({ name: `s${index}`, clusterIPs }));
    stage.source.slice(sliceOf(index, 0));
  }
  stage.complete();
  while (!isWritten()) await sleep(SETTLE_MS);
  const before = process.cpuUsage();
  for (let change = 0; change < CHANGES; change++) {
    const object = sliceOf(change % SERVICES, 1 + Math.floor(change / SERVICES));
    const key = `ns/${object.name}`;
    stage.source.tell({ kind: 'slice', type: 'put', key, object, stamp: stampOf(change) });
    if (change % atOnce === 0) while (stage.agent.table.hasChanges) await turn();
  }
  while (!isWritten()) await sleep(SETTLE_MS);
  const { user, system } = process.cpuUsage(before);
  await plane.remove();
  return (user + system) / CHANGES;
}

function sliceOf(index: number, version: number): SliceObject {
  const endpoints = Array.from({ length: ENDPOINTS }, (_, at) => {
    const ready = at !== version % ENDPOINTS;
    return endpoint(`10.${at + 1}.${index >> 8}.${index & 255}`, { ready, serving: ready });
  });
  return slice(endpoints, { name: `s${index}-1`, service: `s${index}` });
}

function stampOf(change: number): Stamp {
  const manager = 'kube-controller-manager';
  const writer = { manager, operation: 'Update', subresource: '', atMs: 1_700_000_000_000 };
  return { resourceVersion: String(1_000_000 + change), writers: [writer] };
}

function measureFull() {
  const before = heapBytes();
  const history = newHistory();
  for (let change = 0; change < 20_000; change++) {
    const [was, is] = [sliceOf(change % SERVICES, change), sliceOf(change % SERVICES, change + 1)];
    tell(history, { before: was, after: is, change });
  }
  const used = heapBytes() - before;
  const serviceNow = () => ({ exists: true, endpoints: 0, ready: 0 });
  const pageMs = medianMs(50, () => {
    JSON.stringify(historyPage({}, { history, clock: systemClock, serviceNow }));
  });
  const many = (ready: boolean) =>
    slice(
      Array.from({ length: LARGE }, (_, at) => endpoint(`10.9.${at >> 8}.${at & 255}`, { ready })),
    );
  const [up, down] = [many(true), many(false)];
  const flipMs = medianMs(200, () => tell(history, { before: up, after: down, change: 1 }));
  const megabytes = Number.isNaN(used) ? 'needs node --expose-gc' : (used / 1e6).toFixed(1);
  return { entries: history.ring.size, megabytes, pageMs, flipMs };
}

function tell(
  history: History,
  { before, after, change }: { before: SliceObject; after: SliceObject; change: number },
): void {
  const about = { kind: 'slice', key: `ns/${after.name}`, stamp: stampOf(change) } as const;
  history.observer.onObjectChanged?.({ ...about, before, after }, systemClock.monotonicMs());
}

function heapBytes(): number {
  if (globalThis.gc === undefined) return Number.NaN;
  for (let count = 0; count < 3; count++) globalThis.gc();
  return process.memoryUsage().heapUsed;
}

function medianMs(times: number, what: () => void): number {
  const all = Array.from({ length: times }, () => {
    const startMs = performance.now();
    what();
    return performance.now() - startMs;
  });
  return median(all);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
