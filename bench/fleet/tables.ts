import { median } from '../../lab/host/spread.ts';
import { atX, type Line, lineThrough, type Point } from '../report/line.ts';
import type { Section } from '../report/section.ts';
import { bytes, count, fixed, megabytes, milliseconds } from '../report/units.ts';
import type { FleetRun, FleetStep, FleetVisit } from './record.ts';

/** The number of nodes that Kubernetes is tested with. */
const LARGEST_CLUSTER = 5_000;
const MS = 1_000;

export function fleetSections(run: FleetRun): readonly Section[] {
  return [measuredSection(run), computedSection(run), herdSection(run)];
}

/** Of each step. */
function measuredSection({ visits }: FleetRun): Section {
  const rows = visits.flatMap(({ proxy, steps }) =>
    steps.map((step) => [
      proxy,
      count(step.machines),
      `${count(step.start.machines)} in ${fixed(step.start.tookSeconds)} s`,
      milliseconds(startCpuMs(step)),
      bytes(step.start.sentBytes / step.start.machines),
      milliseconds(changeCpuMs(step)),
      bytes(changeBytes(step)),
      megabytes(step.residentBytes),
    ]),
  );
  return {
    name: 'fleet',
    title: 'What machines cost the API server',
    head: [
      'proxy',
      'machines',
      'started',
      'CPU of a start',
      'bytes of a start',
      'CPU of a change',
      'bytes of a change',
      'memory',
    ],
    rows,
  };
}

/** What a line through the steps says of one machine more, and of the largest cluster. */
function computedSection({ visits }: FleetRun): Section {
  return {
    name: 'fleet-computed',
    title: `Computed for ${count(LARGEST_CLUSTER)} machines`,
    head: [
      'proxy',
      'what',
      'without machines',
      'each machine',
      `${count(LARGEST_CLUSTER)} machines`,
      'explained by the line',
    ],
    rows: visits.flatMap(computedRows),
  };
}

function computedRows({ proxy, steps }: FleetVisit): string[][] {
  const row = (
    what: string,
    of: (step: FleetStep) => number,
    unit: (value: number) => string,
  ): string[] => {
    const line = lineThrough(steps.map((step): Point => ({ x: step.machines, y: of(step) })));
    return [proxy, what, ...lineCells(line, unit)];
  };
  return [
    row('CPU of a change', changeCpuMs, milliseconds),
    row('bytes of a change', changeBytes, bytes),
    row('memory', ({ residentBytes }) => residentBytes, bytes),
  ];
}

function lineCells(line: Line | undefined, unit: (value: number) => string): string[] {
  if (line === undefined) return ['', '', 'needs three numbers of machines', ''];
  const signed = (value: number): string => (value < 0 ? `-${unit(-value)}` : unit(value));
  return [
    signed(line.base),
    signed(line.perX),
    signed(atX(line, LARGEST_CLUSTER)),
    `${fixed(line.explains * 100)} %`,
  ];
}

function herdSection({ visits }: FleetRun): Section {
  const rows = visits.flatMap(({ proxy, herds }) =>
    herds.map(({ machines, jitter, rightAfterMs, cpuSeconds, sentBytes }) => [
      proxy,
      jitter ? 'as shipped' : 'all in step',
      count(machines),
      milliseconds(median(rightAfterMs)),
      milliseconds(Math.max(...rightAfterMs)),
      `${fixed(cpuSeconds)} s`,
      bytes(sentBytes / machines),
    ]),
  );
  return {
    name: 'fleet-herd',
    title: 'After the API server was replaced',
    head: [
      'proxy',
      'retries',
      'machines',
      'half are right after',
      'all are right after',
      'CPU of the new API server',
      'bytes to each',
    ],
    rows,
  };
}

function startCpuMs({ start }: FleetStep): number {
  return (start.cpuSeconds * MS) / start.machines;
}

function changeCpuMs({ changes }: FleetStep): number {
  return (changes.cpuSeconds * MS) / changes.count;
}

function changeBytes({ changes }: FleetStep): number {
  return changes.sentBytes / changes.count;
}
