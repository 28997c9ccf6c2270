import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { run } from '../../../lab/host/run.ts';
import { median } from '../../../lab/host/spread.ts';
import { formatTable } from '../../../lab/host/table.ts';
import { MapFlag, MapType } from '../../../src/linux/ebpf/constants.ts';
import { KernelTypes } from '../../../src/linux/ebpf/kernel-types.ts';
import type { BpfMap } from '../../../src/linux/ebpf/map.ts';
import { createMap } from '../../../src/linux/ebpf/map-create.ts';

const KEY_BYTES = 20;
const VALUE_BYTES = 32;
const SINGLY = 20_000;
const ROUNDS = 7;

type Times = Map<string, number[]>;

/**
 * The same calls from C are the least that it can cost. Needs root and cc. Figures are milliseconds
 * of CPU, of every thread: other work on the machine changes them less.
 */
export const command = new Command()
  .argument('[entries]', 'entries in the map', Number, 150_000)
  .action(measure);

async function measure(count: number): Promise<void> {
  const entries = new Entries(count);
  const [ours, inC]: [Times, Times] = [new Map(), new Map()];
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-bpf-speed-'));
  try {
    const writer = join(folder, 'writer');
    await run(['cc', '-O2', '-o', writer, join(import.meta.dirname, 'writer.c')]);
    for (let round = 0; round < ROUNDS; round += 1) {
      await measureOurs(entries, ours);
      for (const line of (await run([writer, String(count)])).trim().split('\n')) {
        const [name = '', ms] = line.split(' ');
        note(inC, name, Number(ms));
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  print({ ours, inC }, count);
}

/** Keys and values that are different from each other. */
class Entries {
  readonly count: number;
  readonly keys: Buffer;
  readonly values: Buffer;

  constructor(count: number) {
    this.count = count;
    this.keys = Buffer.alloc(count * KEY_BYTES);
    this.values = Buffer.alloc(count * VALUE_BYTES);
    for (let at = 0; at < count; at += 1) {
      this.keys.writeUInt32LE(at, at * KEY_BYTES);
      this.values.writeUInt32LE(at, at * VALUE_BYTES);
    }
  }

  singly(each: (key: Buffer, value: Buffer) => void): void {
    for (let at = 0; at < SINGLY; at += 1) {
      const key = this.keys.subarray(at * KEY_BYTES, (at + 1) * KEY_BYTES);
      each(key, this.values.subarray(at * VALUE_BYTES, (at + 1) * VALUE_BYTES));
    }
  }
}

async function measureOurs(entries: Entries, into: Times): Promise<void> {
  const { keys, values, count } = entries;
  const map = createMap({
    name: 'fl_speed',
    type: MapType.hash,
    keySize: KEY_BYTES,
    valueSize: VALUE_BYTES,
    maxEntries: count,
    flags: MapFlag.noPrealloc,
  });
  const timed = async (name: string, work: () => unknown): Promise<void> => {
    const start = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(start);
    note(into, name, (user + system) / 1000);
  };
  try {
    await timed('write', () => map.updateBatch(keys, values, count));
    await timed('overwrite', () => map.updateBatch(keys, values, count));
    await timed('update-one', () => entries.singly((key, value) => map.update(key, value)));
    await timed('lookup-one', () => entries.singly((key) => void map.lookup(key)));
    await timed('read-all', () => readAll(map, count));
    await timed('delete', () => map.deleteBatch(keys, count));
    const types = new KernelTypes();
    await timed('types-first', () => types.kernelFunction('bpf_sock_destroy'));
    await timed('types-next', () => types.kernelFunction('bpf_iter_udp'));
  } finally {
    map.close();
  }
}

async function readAll(map: BpfMap, count: number): Promise<void> {
  let seen = 0;
  for await (const some of map.entries(new AbortController().signal)) seen += some.length;
  if (seen !== count) throw new Error(`only ${seen} of ${count} entries were read back`);
}

function note(into: Times, name: string, ms: number): void {
  into.set(name, [...(into.get(name) ?? []), ms]);
}

function print({ ours, inC }: { ours: Times; inC: Times }, count: number): void {
  const shown = (ms: number | undefined): string => (ms === undefined ? '' : ms.toFixed(1));
  const rows = [...ours].map(([name, all]) => {
    const timesInC = inC.get(name);
    const [here, there] = [median(all), timesInC && median(timesInC)];
    const times = here !== undefined && there !== undefined ? (here / there).toFixed(2) : '';
    return [name, shown(here), shown(there), times];
  });
  console.log(formatTable([['work', 'CPU ms', 'in C', 'times'], ...rows]));
  console.log(`${count} entries of ${KEY_BYTES} and ${VALUE_BYTES} bytes; "one": ${SINGLY} calls`);
}
