import type { Memory } from '../../../bench/record.ts';
import { megabytes, milliseconds } from '../../../bench/report/units.ts';
import type { LoadSize } from '../../../lab/load/objects.ts';
import type { InspectionReport } from '../../../src/agent/observer.ts';

import type { Section } from './report.ts';

interface Started {
  /** From the start of the process until the kernel had everything. */
  readonly afterMs: number;
  readonly memory: Memory;
}

export interface RestartFigures {
  readonly size: LoadSize;
  readonly start: Started;
  readonly memoryAfterChanges: Memory;
  readonly again: Started;
  readonly inspection: InspectionReport | undefined;
}

/** What a start costs when the kernel has nothing, and when it has everything. */
export function restartSection(figures: readonly RestartFigures[]): Section {
  return {
    name: 'restart',
    title: '`fairlead run`, from the start of the process to everything in the kernel',
    head: [
      'cluster',
      'first start',
      'memory',
      'after changes',
      'restart',
      'of it reading back',
      'rows adopted',
      'rows wrong',
      'writes',
      'memory again',
    ],
    rows: figures.map(({ size, start, memoryAfterChanges, again, inspection }) => [
      `${size.services} x ${size.endpointsPerService}`,
      milliseconds(start.afterMs),
      memoryText(start.memory),
      memoryText(memoryAfterChanges),
      milliseconds(again.afterMs),
      milliseconds(inspection?.durationMs ?? Number.NaN),
      String((inspection?.rowCount ?? 0) - (inspection?.wrongCount ?? 0)),
      String(inspection?.wrongCount),
      String(inspection?.writeCount),
      memoryText(again.memory),
    ]),
    limits: figures.map(({ size, inspection }) => ({
      what: `writes of a restart at ${size.services}`,
      figure: (inspection?.writeCount ?? Number.NaN) + (inspection?.wrongCount ?? Number.NaN),
      atMost: 0,
      unit: 'times',
    })),
    figures,
  };
}

function memoryText({ residentBytes, peakBytes }: Memory): string {
  return `${megabytes(residentBytes)} (most ${megabytes(peakBytes)})`;
}
