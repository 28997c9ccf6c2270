import { median } from '../../lab/host/spread.ts';
import type { Run } from '../record.ts';
import { sizeText } from '../sizes.ts';
import { medianText, type Section, spreadText } from './section.ts';
import {
  bareMs,
  bareOf,
  type Cell,
  cellsOf,
  changesOf,
  coldMs,
  coldOf,
  finalBytes,
  loadOf,
  receiptOf,
  restingBytes,
  stagesOf,
  whyEmpty,
} from './summary.ts';
import { bytes, count, megabytes, milliseconds, seconds, times } from './units.ts';

const WRITERS = ['netlink', 'iptables-restore'] as const;

/** A row for each cell that has something to say; what has no figures says why. */
function rowsOf(run: Run, row: (cell: Cell) => string[] | undefined): string[][] {
  return cellsOf(run).flatMap((cell) => {
    const begin = [sizeText(cell.size), cell.proxy];
    const why = whyEmpty(cell);
    if (why !== undefined) return [[...begin, why]];
    const rest = row(cell);
    return rest === undefined ? [] : [[...begin, ...rest]];
  });
}

export function coldSection(run: Run): Section {
  return {
    name: 'cold',
    title:
      'Cold start: from the start of the process until every Service is programmed and the last one answers',
    head: [
      'cluster',
      'proxy',
      'cold start',
      'bare writer',
      'CPU',
      'from the API',
      'memory',
      'PSS',
      'anonymous',
      'its programs',
    ],
    rows: rowsOf(run, (cell) => {
      const cold = coldMs(cell);
      if (cold === undefined) return undefined;
      return [
        spreadText(cold, milliseconds),
        medianText(bareMs(run, cell, 'netlink'), milliseconds),
        medianText(
          coldOf(cell, (each) => each.cpuSeconds),
          seconds,
        ),
        medianText(
          coldOf(cell, (each) => each.apiBytes),
          bytes,
        ),
        spreadText(restingBytes(cell), megabytes),
        medianText(restingBytes(cell, 'proportionalBytes'), megabytes),
        medianText(restingBytes(cell, 'anonymousBytes'), megabytes),
        medianText(restingBytes(cell, 'programsBytes'), megabytes),
      ];
    }),
  };
}

export function changeSection(run: Run): Section {
  return {
    name: 'change',
    title:
      'One changed endpoint: from the write to the API server to the first packet answered by it',
    head: [
      'cluster',
      'proxy',
      'changes',
      'p50',
      'p90',
      'p99',
      'p50 of the rounds',
      'the API server alone',
      'CPU per change',
      'from the API',
      'memory at the end',
    ],
    rows: rowsOf(run, (cell) => {
      const changes = changesOf(cell);
      if (changes === undefined) return undefined;
      const { rounds } = changes;
      return [
        count(changes.count),
        milliseconds(changes.p50Ms),
        milliseconds(changes.p90Ms),
        milliseconds(changes.p99Ms),
        `${milliseconds(rounds.least)} to ${milliseconds(rounds.most)}`,
        milliseconds(changes.writtenP50Ms),
        milliseconds(changes.cpuMsPerChange),
        bytes(changes.apiBytesPerChange),
        medianText(finalBytes(cell), megabytes),
      ];
    }),
  };
}

export function stagesSection(run: Run): Section {
  return {
    name: 'stages',
    title:
      'Its stages, medians; and what the proxy itself says of the way from receipt to acknowledgement',
    head: [
      'cluster',
      'proxy',
      'changes',
      'API to received',
      'to resolved',
      'to acknowledged',
      'to the packet',
      'receipt to acknowledgement',
      'p50',
      'p90',
      'p99',
    ],
    rows: rowsOf(run, (cell) => {
      const stages = stagesOf(cell);
      if (stages === undefined) return undefined;
      const receipt = receiptOf(cell);
      return [
        count(stages.count),
        ...[stages.apiMs, stages.resolveMs, stages.writeMs, stages.packetMs].map(milliseconds),
        receipt ? `${count(receipt.count)} changes` : '',
        ...(receipt ? [receipt.p50Ms, receipt.p90Ms, receipt.p99Ms].map(milliseconds) : []),
      ];
    }),
  };
}

export function loadsSection(run: Run): Section {
  return {
    name: 'loads',
    title:
      'Many changes: 1,000 endpoints of one Service replaced by 101 writes; 1,000 Services created at once',
    head: [
      'cluster',
      'proxy',
      'rolling update',
      'after the last write',
      'CPU',
      'from the API',
      'memory',
      '1,000 Services',
      'after the last write',
      'CPU',
      'from the API',
      'memory',
    ],
    rows: rowsOf(run, (cell) => {
      const both = (['rolling', 'bulk'] as const).map((load) => [
        spreadText(
          loadOf(cell, load, (each) => each.wholeMs),
          milliseconds,
        ),
        medianText(
          loadOf(cell, load, (each) => each.afterLastWriteMs),
          milliseconds,
        ),
        medianText(
          loadOf(cell, load, (each) => each.cpuSeconds),
          seconds,
        ),
        medianText(
          loadOf(cell, load, (each) => each.apiBytes),
          bytes,
        ),
        medianText(
          loadOf(cell, load, (each) => each.memory.residentBytes),
          megabytes,
        ),
      ]);
      const [rolling = [], bulk = []] = both;
      const isSkipped = rolling[0] !== '' && bulk[0] === '';
      if (isSkipped) return [...rolling, 'not run: too many'];
      return both.flat().every((text) => text === '') ? undefined : both.flat();
    }),
  };
}

export function limitSection(run: Run): Section {
  const cells = cellsOf(run).filter((cell) =>
    WRITERS.some((by) => bareOf(run, cell, by).length > 0),
  );
  return {
    name: 'limit',
    title: 'The limit: the same kernel objects written by a bare program',
    head: [
      'cluster',
      'objects of',
      'netlink alone',
      'its CPU',
      'cold start relative to it',
      'CPU of the start relative to it',
      'iptables-restore alone',
      'cold start relative to it',
    ],
    rows: cells.map((cell) => {
      const cold = coldMs(cell)?.median ?? Number.NaN;
      const coldCpu = coldOf(cell, ({ cpuSeconds }) => cpuSeconds)?.median ?? Number.NaN;
      const bare = bareMs(run, cell, 'netlink');
      const bareCpu = median(bareOf(run, cell, 'netlink').flatMap((each) => each.cpuSeconds ?? []));
      const restored = bareMs(run, cell, 'iptables-restore');
      const ended = bareOf(run, cell, 'iptables-restore')[0]?.ended ?? '';
      return [
        sizeText(cell.size),
        cell.proxy,
        ...(bare
          ? [
              spreadText(bare, milliseconds),
              milliseconds(bareCpu * 1_000),
              times(cold / bare.median),
              times(coldCpu / bareCpu),
            ]
          : ['', '', '', '']),
        ...(restored
          ? [spreadText(restored, milliseconds), times(cold / restored.median)]
          : [ended]),
      ];
    }),
  };
}
