import { Command, InvalidArgumentError, Option } from 'commander';
import { arrayAt, type JsonRecord } from '../../cluster/json.ts';
import { GROUPINGS, type GroupedBy } from '../../commands/groupings.ts';
import { printJson, printPage } from '../../commands/terminal/print.ts';
import { visible } from '../../commands/terminal/visible.ts';
import { formatWrappedTable } from '../../commands/text-table.ts';
import { askNodes, type NodeAnswer } from './ask-nodes.ts';
import type { Kubectl } from './kubectl.ts';
import { addNodesOptions, type NodesOptions, reach } from './nodes-options.ts';
import { exitFor, nodesData, silentLines, widthNow } from './nodes-view.ts';
import { recordSaid, saidCount } from './said.ts';
import { type ClusterRow, clusterRows, clusterTotals, type NodeTick } from './top-rows.ts';

interface NodesTopOptions extends NodesOptions {
  readonly by: GroupedBy;
  readonly rows: number;
  readonly interval: string;
}

const USUAL_ROWS = 20;
const MOST_ROWS = 1000;
/** Named in a row. */
const MOST_NODES = 3;
const HEADS: Readonly<Record<GroupedBy, string>> = {
  service: 'SERVICE',
  endpoint: 'ENDPOINT',
  client: 'CLIENT',
};

/** `kubectl fairlead top`: the busiest Services of all nodes in one table. */
export function nodesTopCommand(given?: Kubectl): Command {
  const command = new Command('top')
    .description(
      'show the busiest Services, endpoints or clients of all nodes, once, in one table; exit code 1 if a node does not answer',
    )
    .addOption(
      new Option('--by <what>', 'what a row is').choices(GROUPINGS).default('service' as GroupedBy),
    )
    .addOption(new Option('--rows <count>', 'rows to show').argParser(readRows).default(USUAL_ROWS))
    .option('--interval <time>', 'how long each node measures, such as 2s', '2s');
  return addNodesOptions(command).action(async (options: NodesTopOptions) => {
    const { kubectl, agents, timeoutMs } = await reach(options, given);
    const { by, interval, output } = options;
    const args = ['top', '--once', '-o', 'json', '--by', by, '--interval', interval];
    const answers = await askNodes(kubectl, agents, {
      // A row that is not among the busiest of its node may be among those of the cluster.
      args: [...args, '--rows', String(MOST_ROWS)],
      timeoutMs,
      read: ({ stdout }) => readTick(stdout),
    });
    if (output === 'json') printJson(nodesData(answers));
    else printPage(topText(answers, options));
    process.exitCode = exitFor(answers, () => ({ isWell: true, cells: [] }));
  });
}

function readTick(stdout: string): JsonRecord {
  const tick = recordSaid(stdout);
  // What is no tick, as of another version, is no answer.
  saidCount(tick, 'seconds');
  return tick;
}

function topText(
  answers: readonly NodeAnswer<JsonRecord>[],
  { by, rows: most }: NodesTopOptions,
): string {
  const ticks = answers.flatMap((answer) =>
    answer.answers ? [{ node: answer.node, tick: answer.said }] : [],
  );
  const rows = clusterRows(ticks);
  const shown = rows.slice(0, most);
  const left = ticks.reduce((sum, { tick }) => sum + moreOf(tick), 0) + rows.length - shown.length;
  const table = formatWrappedTable(
    [['NEW/S', 'OPEN', 'REJECTED/S', 'DROPPED/S', HEADS[by], 'NODES'], ...shown.map(cellsOf)],
    { width: widthNow() },
  );
  return [
    headline(ticks, answers.length),
    ...notesOf(ticks),
    '',
    shown.length === 0 ? 'no connection to a Service' : table,
    ...(left > 0 ? [`and ${left} more`] : []),
    ...silentLines(answers),
  ].join('\n');
}

function headline(ticks: readonly NodeTick[], asked: number): string {
  const { newPerSecond, live, rejectedPerSecond, droppedPerSecond } = clusterTotals(ticks);
  const parts = [
    `${rate(newPerSecond)} new connections/s`,
    live === undefined ? '' : `${rate(live)} open`,
    rejectedPerSecond === undefined ? '' : `${rate(rejectedPerSecond)} rejected/s`,
    droppedPerSecond === undefined ? '' : `${rate(droppedPerSecond)} dropped/s`,
  ].filter((part) => part !== '');
  return `${parts.join(', ')}, on ${ticks.length} of ${asked} ${asked === 1 ? 'node' : 'nodes'}`;
}

/** What is missing from the figures of a node, each sentence once. */
function notesOf(ticks: readonly NodeTick[]): string[] {
  const byNote = new Map<string, string[]>();
  for (const { node, tick } of ticks) {
    for (const note of arrayAt(tick, 'notes').filter((each) => typeof each === 'string')) {
      byNote.set(note, [...(byNote.get(note) ?? []), node]);
    }
  }
  return [...byNote].map(([note, nodes]) => visible(`${nodes.join(', ')}: ${note}`));
}

function moreOf(tick: JsonRecord): number {
  return typeof tick['more'] === 'number' ? tick['more'] : 0;
}

function cellsOf(row: ClusterRow): string[] {
  const { name, newPerSecond, live, rejectedPerSecond, droppedPerSecond, nodes } = row;
  const figures = [newPerSecond, live, rejectedPerSecond, droppedPerSecond].map(rate);
  const named = nodes.slice(0, MOST_NODES).map(({ node, part }) => `${node} ${percent(part)}`);
  const more = nodes.length > MOST_NODES ? [`${nodes.length - MOST_NODES} more`] : [];
  return [...figures, name, [...named, ...more].join(', ')].map(visible);
}

function rate(value: number | undefined): string {
  if (value === undefined) return '-';
  return value > 0 && value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US');
}

function percent(part: number): string {
  return `${Math.round(part * 100)}%`;
}

function readRows(text: string): number {
  const rows = Number(text);
  if (Number.isInteger(rows) && rows >= 1 && rows <= MOST_ROWS) return rows;
  throw new InvalidArgumentError(`pass a number from 1 to ${MOST_ROWS}`);
}
