/**
 * `npm run socket-hooks-speed [-- SERVICES ENDPOINTS]`: what the plane of socket hooks costs at that
 * size: a full load beside a C program that writes the same, and one endpoint more. Needs root and
 * cc. A load is milliseconds of CPU of every thread, because the clock says little on a busy machine.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../lab/host/run.ts';
import { formatTable } from '../../lab/host/table.ts';
import { testPlace } from '../../src/dataplanes/ebpf/testing/place.ts';
import { clusterIp, FACTS, rowOf } from '../../src/dataplanes/ebpf/testing/rows.ts';
import { change } from '../../src/dataplanes/shared/testing/change.ts';
import type { Forwarding } from '../../src/forwarding/model.ts';

const ROUNDS = 5;
const CHANGES = 2000;
/** Prime to every size, so that changes are spread over all Services. */
const STRIDE = 7919;

const services = Number(process.argv[2] ?? 50_000);
const endpoints = Number(process.argv[3] ?? 5);
const place = testPlace('speed');
const folder = mkdtempSync(join(tmpdir(), 'fairlead-hooks-speed-'));
try {
  const writer = join(folder, 'writer');
  await run(['cc', '-O2', '-o', writer, join(import.meta.dirname, 'writer.c')]);
  const rows = Array.from({ length: services }, (_, n) => rowAt(n));
  await load(rows);
  const [ours, inC]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await load(rows));
    inC.push(Number(await run([writer, String(services), String(endpoints)])));
  }
  const took = await changeOneByOne(rows);
  const times = (middle(ours) / middle(inC)).toFixed(2);
  console.log(
    formatTable([
      ['work', 'ours', 'in C', 'times'],
      ['full load, ms of CPU', middle(ours).toFixed(0), middle(inC).toFixed(0), times],
      ['one endpoint more, p50 ms', at(took, 0.5).toFixed(3), '', ''],
      ['one endpoint more, p99 ms', at(took, 0.99).toFixed(3), '', ''],
    ]),
  );
} finally {
  await place.newPlane().remove();
  place.leave();
  rmSync(folder, { recursive: true });
}

function rowAt(n: number): Forwarding {
  const frontends = [clusterIp(`10.${96 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`)];
  const list = Array.from({ length: endpoints }, (_, e) => {
    const host = n * endpoints + e;
    return `10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}:8080`;
  });
  return rowOf(`s${n}`, { frontends, endpoints: list });
}

/** Into maps that are empty and large enough after the first time. */
async function load(rows: readonly Forwarding[]): Promise<number> {
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

async function changeOneByOne(rows: readonly Forwarding[]): Promise<number[]> {
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

function middle(values: readonly number[]): number {
  return at(values, 0.5);
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
