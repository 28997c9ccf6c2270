import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { run } from '../../../lab/host/run.ts';
import { median, quantile } from '../../../lab/host/spread.ts';
import { formatTable } from '../../../lab/host/table.ts';
import { change } from '../../../src/dataplanes/shared/testing/change.ts';
import type { Forwarding } from '../../../src/forwarding/model.ts';
import { testPlace } from '../../../src/wings/ebpf/plane/testing/place.ts';
import { clusterIp, FACTS, rowOf } from '../../../src/wings/ebpf/plane/testing/rows.ts';

type TestPlace = ReturnType<typeof testPlace>;

const ROUNDS = 5;
const CHANGES = 2000;
/** Prime to every size, so that changes are spread over all Services. */
const STRIDE = 7919;

interface Size {
  readonly services: number;
  readonly endpoints: number;
}

/**
 * A full load beside a C program that writes the same, and one endpoint more. Needs root and cc. A
 * load is milliseconds of CPU of every thread: other work on the machine changes it less.
 */
export const command = new Command()
  .argument('[services]', 'how many Services', Number, 50_000)
  .argument('[endpoints]', 'endpoints of each', Number, 5)
  .action((services: number, endpoints: number) => measure({ services, endpoints }));

async function measure(size: Size): Promise<void> {
  const { services, endpoints } = size;
  const place = testPlace('speed');
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-hooks-speed-'));
  try {
    const writer = join(folder, 'writer');
    await run(['cc', '-O2', '-o', writer, join(import.meta.dirname, 'writer.c')]);
    const rows = Array.from({ length: services }, (_, n) => rowAt(n, endpoints));
    await load(place, rows);
    const [ours, inC]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await load(place, rows));
      inC.push(Number(await run([writer, String(services), String(endpoints)])));
    }
    print({ ours, inC, changes: await changeOneByOne(place, rows) });
  } finally {
    await place.newPlane().remove();
    place.leave();
    rmSync(folder, { recursive: true });
  }
}

function print(of: { ours: readonly number[]; inC: readonly number[]; changes: number[] }): void {
  const [ours, inC] = [median(of.ours), median(of.inC)];
  console.log(
    formatTable([
      ['work', 'ours', 'in C', 'times'],
      ['full load, ms of CPU', ours.toFixed(0), inC.toFixed(0), (ours / inC).toFixed(2)],
      ['one endpoint more, p50 ms', quantile(of.changes, 0.5).toFixed(3), '', ''],
      ['one endpoint more, p99 ms', quantile(of.changes, 0.99).toFixed(3), '', ''],
    ]),
  );
}

function rowAt(n: number, endpoints: number): Forwarding {
  const frontends = [clusterIp(`10.${96 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`)];
  const list = Array.from({ length: endpoints }, (_, e) => {
    const host = n * endpoints + e;
    return `10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}:8080`;
  });
  return rowOf(`s${n}`, { frontends, endpoints: list });
}

/** Into maps that are empty and large enough after the first time. */
async function load(place: TestPlace, rows: readonly Forwarding[]): Promise<number> {
  const plane = place.newPlane();
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  const changes = rows.map((row) => change('absent', row));
  const before = process.cpuUsage();
  for (let from = 0; from < changes.length; from += plane.rowsPerStep) {
    await plane.apply(changes.slice(from, from + plane.rowsPerStep));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function changeOneByOne(place: TestPlace, rows: readonly Forwarding[]): Promise<number[]> {
  const plane = place.newPlane();
  await plane.inspect({ facts: FACTS, rows }, 'everything');
  const took: number[] = [];
  for (let turn = 0; turn < CHANGES; turn++) {
    const row = rows[(turn * STRIDE) % rows.length];
    if (row === undefined) throw new Error('there are no Services');
    const one = { address: '10.255.0.1', port: 8080, local: false };
    const more = { ...row, clusterEndpoints: [...row.clusterEndpoints, one] };
    const from = performance.now();
    await plane.apply([change(row, more)]);
    took.push(performance.now() - from);
    await plane.apply([change(more, row)]);
  }
  return took;
}
