import { medianText, type Section, spreadText } from '../report/section.ts';
import { type Spread, spreadOf } from '../report/statistics.ts';
import { megabytes, milliseconds, seconds } from '../report/units.ts';
import { sizeText } from '../sizes.ts';
import type { ControlPlaneRun, ControlPlaneVisit } from './record.ts';

const MS = 1_000;

export function controlPlanesSection({ visits }: ControlPlaneRun): Section {
  const cells = Map.groupBy(visits, ({ size, name }) => `${sizeText(size)}, ${name}`);
  return {
    name: 'control-planes',
    title: 'Control planes alone: no packet is sent',
    head: [
      'cluster',
      'control plane',
      'CPU: start',
      'a change',
      'idle, per s',
      'memory',
      'anonymous',
    ],
    rows: [...cells.values()].map(rowOf),
  };
}

function rowOf(visits: readonly ControlPlaneVisit[]): string[] {
  const [first] = visits;
  const of = (figure: (visit: ControlPlaneVisit) => number): Spread | undefined =>
    spreadOf(visits.map(figure));
  return [
    first === undefined ? '' : sizeText(first.size),
    first?.name ?? '',
    spreadText(
      of(({ start }) => start.cpuSeconds),
      seconds,
    ),
    spreadText(of(changeCpuMs), milliseconds),
    medianText(
      of(({ idleCpuMsPerSecond }) => idleCpuMsPerSecond),
      milliseconds,
    ),
    medianText(
      of(({ start }) => start.memory.residentBytes),
      megabytes,
    ),
    medianText(
      of(({ start }) => start.memory.anonymousBytes ?? Number.NaN),
      megabytes,
    ),
  ];
}

export function changeCpuMs({ changes }: ControlPlaneVisit): number {
  return (changes.cpuSeconds * MS) / changes.count;
}
