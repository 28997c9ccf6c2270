/**
 * `npm run bpf-speed [-- ENTRIES]`: what maps of the kernel cost through src/linux/bpf, beside the
 * same system calls from C, which is the least that it can cost. Needs root and cc. Figures are
 * milliseconds of CPU, of every thread: other work on the machine changes them less.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../lab/host/run.ts';
import { median } from '../../lab/host/spread.ts';
import { formatTable } from '../../lab/host/table.ts';
import { MapFlag, MapType } from '../../src/linux/bpf/constants.ts';
import { KernelTypes } from '../../src/linux/bpf/kernel-types.ts';
import type { BpfMap } from '../../src/linux/bpf/map.ts';
import { createMap } from '../../src/linux/bpf/map-create.ts';

const KEY_BYTES = 20;
const VALUE_BYTES = 32;
const SINGLY = 20_000;
const ROUNDS = 7;

const count = Number(process.argv[2] ?? 150_000);
const never = new AbortController().signal;
const keys = Buffer.alloc(count * KEY_BYTES);
const values = Buffer.alloc(count * VALUE_BYTES);
for (let at = 0; at < count; at += 1) {
  keys.writeUInt32LE(at, at * KEY_BYTES);
  values.writeUInt32LE(at, at * VALUE_BYTES);
}

const ours = new Map<string, number[]>();
const inC = new Map<string, number[]>();
const folder = mkdtempSync(join(tmpdir(), 'fairlead-bpf-speed-'));
try {
  const writer = join(folder, 'writer');
  await run(['cc', '-O2', '-o', writer, join(import.meta.dirname, 'writer.c')]);
  for (let round = 0; round < ROUNDS; round += 1) {
    await measureOurs();
    for (const line of (await run([writer, String(count)])).trim().split('\n')) {
      const [name = '', ms] = line.split(' ');
      note(inC, name, Number(ms));
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
print();

async function measureOurs(): Promise<void> {
  const map = createMap({
    name: 'fl_speed',
    type: MapType.hash,
    keySize: KEY_BYTES,
    valueSize: VALUE_BYTES,
    maxEntries: count,
    flags: MapFlag.noPrealloc,
  });
  try {
    await timed('write', () => map.updateBatch(keys, values, count));
    await timed('overwrite', () => map.updateBatch(keys, values, count));
    await timed('update-one', () => singly((key, value) => map.update(key, value)));
    await timed('lookup-one', () => singly((key) => void map.lookup(key)));
    await timed('read-all', () => readAll(map));
    await timed('delete', () => map.deleteBatch(keys, count));
    const types = new KernelTypes();
    await timed('types-first', () => types.kernelFunction('bpf_sock_destroy'));
    await timed('types-next', () => types.kernelFunction('bpf_iter_udp'));
  } finally {
    map.close();
  }
}

async function readAll(map: BpfMap): Promise<void> {
  let seen = 0;
  for await (const some of map.entries(never)) seen += some.length;
  if (seen !== count) throw new Error(`${seen} of ${count} entries were read`);
}

function singly(each: (key: Buffer, value: Buffer) => void): void {
  for (let at = 0; at < SINGLY; at += 1) {
    const key = keys.subarray(at * KEY_BYTES, (at + 1) * KEY_BYTES);
    each(key, values.subarray(at * VALUE_BYTES, (at + 1) * VALUE_BYTES));
  }
}

async function timed(name: string, work: () => unknown): Promise<void> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  note(ours, name, (user + system) / 1000);
}

function note(into: Map<string, number[]>, name: string, ms: number): void {
  into.set(name, [...(into.get(name) ?? []), ms]);
}

function print(): void {
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
