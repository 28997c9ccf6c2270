import { formatTable } from '../../../lab/host/table.ts';
import type { Failure, Result } from './campaign.ts';
import { MOST_GROWTH_MB } from './memory.ts';

const COUNTS = ['given', 'json', 'protobuf', 'accepted', 'rejected'] as const;
const HEAD = ['WHAT', 'GIVEN', 'IN JSON', 'IN PROTOBUF', 'ACCEPTED', 'REJECTED'];
const NAMES: Readonly<Record<string, string>> = {
  service: 'Services',
  slice: 'EndpointSlices',
  node: 'Nodes',
  serviceCidr: 'ServiceCIDRs',
  namespace: 'Namespaces',
  'watch events': 'events of malformed watches',
};

export function resultTable(result: Result): string {
  return [formatTable([HEAD, ...rowsOf(result)]), ...notesOf(result)].join('\n');
}

export function resultMarkdown(result: Result): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const head = HEAD.map((title) => title.toLowerCase().replace('json', 'JSON'));
  const table = [line(head), `|${'---|'.repeat(HEAD.length)}`, ...rowsOf(result).map(line)];
  return [...table, '', ...notesOf(result).map((note) => `- ${note}`)].join('\n');
}

export function failureText({ error, shrunk, objects }: Failure): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const parts = [stack];
  if (shrunk !== undefined) parts.push('The shrunk case:', printed(shrunk));
  if (objects !== undefined) parts.push('Its objects:', ...objects.map(printed));
  return parts.join('\n');
}

function rowsOf({ tally }: Result): string[][] {
  const rows = Object.entries(NAMES).flatMap(([what, name]) => {
    const row = tally.rows.get(what);
    return row ? [{ what: name, ...row }] : [];
  });
  const sum = (of: (typeof COUNTS)[number]): number => rows.reduce((all, row) => all + row[of], 0);
  return [
    ...rows.map((row) => [row.what, ...COUNTS.map((of) => String(row[of]))]),
    ['all', ...COUNTS.map((of) => String(sum(of)))],
  ];
}

function notesOf({ tally, seconds, memory }: Result): string[] {
  const problems = [...tally.problems].sort().map(([code, count]) => `${code} ${count}`);
  const megabytes = memory.map((point) => point.megabytes.toFixed(1));
  return [
    `${seconds.toFixed(0)} s`,
    `errors of malformed watches: ${problems.join(', ')}`,
    `memory in use after each round: ${megabytes.join(', ')} MB (at most ${MOST_GROWTH_MB} MB more than after the first)`,
  ];
}

const LONGEST_TEXT = 200;

/** Truncates the one huge text of an object. */
function printed(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' && part.length > LONGEST_TEXT
      ? `${part.slice(0, LONGEST_TEXT)}… (${part.length} characters)`
      : part,
  );
}
