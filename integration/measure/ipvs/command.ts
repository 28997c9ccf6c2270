import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { run } from '../../../lab/host/run.ts';
import { median, quantile } from '../../../lab/host/spread.ts';
import { formatTable } from '../../../lab/host/table.ts';
import { KernelIpvs } from '../../../src/linux/ipvs/kernel-ipvs.ts';
import type { IpvsWrite, VirtualServer } from '../../../src/linux/ipvs/model.ts';
import {
  enterOwnNetwork,
  run as runHere,
} from '../../../src/linux/netlink/testing/own-namespace.ts';

const ROUNDS = 5;
const CHANGES = 500;
const READS = 5;
const FEW_SERVERS = 100;
/** Prime to every size, so that changes are spread over all servers. */
const STRIDE = 7919;
/** A load may take this many times what it takes in C. */
const MOST_TIMES = 3;

interface Size {
  readonly servers: number;
  readonly destinations: number;
}

/** Milliseconds of each round; changes in microseconds. */
interface Figures {
  readonly loads: number[];
  readonly loadsInC: number[];
  readonly changes: Map<number, { readonly ours: number[]; readonly inC: number[] }>;
  readonly reads: Map<string, number[]>;
}

/**
 * A full load beside a C program that writes the same, one change in small and large tables, and
 * reads. Needs root, cc, and a kernel with IPVS: `--kernel uml`. Figures are of the clock, because
 * that kernel accounts for CPU too coarsely.
 */
export const command = new Command()
  .argument('[servers]', 'how many virtual servers', Number, 10_000)
  .argument('[destinations]', 'destinations of each', Number, 5)
  .action((servers: number, destinations: number) => measure({ servers, destinations }));

async function measure(size: Size): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-ipvs-speed-'));
  const figures: Figures = { loads: [], loadsInC: [], changes: new Map(), reads: new Map() };
  try {
    const writer = join(folder, 'writer');
    await run(['cc', '-O2', '-o', writer, join(import.meta.dirname, 'writer.c')]);
    const writes = writesFor(size);
    for (let round = 0; round < ROUNDS; round++) {
      // A new network namespace: the kernel walks what was deleted lately at each addition.
      enterOwnNetwork();
      figures.loads.push(await timedMs(() => write(writes)));
      if (round === ROUNDS - 1) await readAndChange(writer, size, figures);
      runHere(['ipvsadm', '-C']);
      enterOwnNetwork();
      const { servers, destinations } = size;
      figures.loadsInC.push(Number(runHere([writer, 'load', `${servers}`, `${destinations}`])));
      runHere(['ipvsadm', '-C']);
    }
    enterOwnNetwork();
    const few = { ...size, servers: FEW_SERVERS };
    await write(writesFor(few));
    await measureChanges(writer, few, figures);
    runHere(['ipvsadm', '-C']);
  } finally {
    rmSync(folder, { recursive: true });
  }
  print(size, figures);
}

async function readAndChange(writer: string, size: Size, figures: Figures): Promise<void> {
  const ipvs = new KernelIpvs();
  const reads = {
    'read everything': () => ipvs.read(),
    fingerprint: () => ipvs.fingerprint(),
    'fingerprint of the begin': () => ipvs.fingerprint('begin'),
  };
  for (const [name, work] of Object.entries(reads)) {
    const times: number[] = [];
    for (let round = 0; round < READS; round++) times.push(await timedMs(work));
    figures.reads.set(name, times);
  }
  await measureChanges(writer, size, figures);
}

/** The weight of one destination. */
async function measureChanges(writer: string, size: Size, figures: Figures): Promise<void> {
  const ours: number[] = [];
  for (let round = 0; round < CHANGES; round++) {
    const server = serverAt((round * STRIDE) % size.servers);
    const destination = { ...destinationAt(server, 0), weight: 2 + (round % 2) };
    const change: IpvsWrite = { do: 'set-destination', server, destination };
    ours.push((await timedMs(() => write([change]))) * 1000);
  }
  const lines = runHere([writer, 'change', `${size.servers}`, `${CHANGES}`])
    .trim()
    .split('\n');
  figures.changes.set(size.servers, { ours, inC: lines.map(Number) });
}

async function write(writes: readonly IpvsWrite[]): Promise<void> {
  const refusals = await new KernelIpvs().write(writes);
  if (refusals.length > 0) throw new Error(`${refusals.length} writes were refused`);
}

async function timedMs(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

interface NumberedServer extends VirtualServer {
  readonly index: number;
}

/** The addresses are those of writer.c. */
function serverAt(index: number): NumberedServer {
  return {
    index,
    protocol: 'TCP',
    address: `10.96.${index >> 8}.${index & 0xff}`,
    port: 80,
    scheduler: 'rr',
    schedulerFlags: [],
    persistenceSeconds: 0,
  };
}

function destinationAt({ index }: NumberedServer, number: number) {
  const address = `10.${128 + number}.${index >> 8}.${index & 0xff}`;
  return { address, port: 8080, weight: 1 };
}

function writesFor({ servers, destinations }: Size): IpvsWrite[] {
  const writes: IpvsWrite[] = [];
  for (let index = 0; index < servers; index++) {
    const server = serverAt(index);
    writes.push({ do: 'add-server', server });
    for (let number = 0; number < destinations; number++) {
      writes.push({ do: 'add-destination', server, destination: destinationAt(server, number) });
    }
  }
  return writes;
}

function print({ servers, destinations }: Size, figures: Figures): void {
  const row = (name: string, ours: number, inC?: number): string[] => [
    name,
    ours.toFixed(1),
    inC === undefined ? '' : inC.toFixed(1),
    inC === undefined ? '' : (ours / inC).toFixed(2),
  ];
  const [load, loadInC] = [median(figures.loads), median(figures.loadsInC)];
  const changes = [...figures.changes].sort(([a], [b]) => a - b);
  console.log(
    formatTable([
      ['work', 'ours', 'in C', 'times'],
      row(`load ${servers} x ${destinations}, ms`, load, loadInC),
      row('the first load of the process, ms', figures.loads[0] ?? 0, figures.loadsInC[0]),
      ...changes.flatMap(([count, { ours, inC }]) => [
        row(`one change at ${count}, median µs`, median(ours), median(inC)),
        row(`one change at ${count}, p99 µs`, quantile(ours, 0.99), quantile(inC, 0.99)),
      ]),
      ...[...figures.reads].map(([name, times]) => row(`${name}, ms`, median(times))),
    ]),
  );
  console.log(`medians of ${ROUNDS} loads, ${CHANGES} changes, ${READS} reads`);
  if (load <= MOST_TIMES * loadInC) return;
  console.error(`a load takes more than ${MOST_TIMES} times what it takes in C`);
  process.exitCode = 1;
}
