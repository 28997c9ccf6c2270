import { Command, InvalidArgumentError, Option } from 'commander';
import type { DatedEntry } from '../../agent/history/history-page.ts';
import { arrayAt, isRecord, type JsonRecord } from '../../cluster/json.ts';
import { historyText } from '../../commands/history/history-text.ts';
import { sentenceOf } from '../../commands/history/sentence.ts';
import { countText } from '../../commands/status/status-texts.ts';
import { colours } from '../../commands/terminal/colour.ts';
import { printJson, printPage } from '../../commands/terminal/print.ts';
import { askNodes, type NodeAnswer } from './ask-nodes.ts';
import type { Kubectl } from './kubectl.ts';
import { addNodesOptions, type NodesOptions, reach } from './nodes-options.ts';
import { exitFor, nodesData, silentLines, widthNow } from './nodes-view.ts';
import { recordSaid, saidCount } from './said.ts';

interface NodesHistoryOptions extends NodesOptions {
  readonly since?: string;
  readonly limit: number;
}

const USUAL_LIMIT = 50;
/** Beyond these the names of nodes are counted. */
const MOST_NAMED = 2;

/** `kubectl fairlead history`: what changed on all nodes, by its time. */
export function nodesHistoryCommand(given?: Kubectl): Command {
  const command = new Command('history')
    .description(
      'show what changed on all nodes, newest last, with the nodes that have it; exit code 1 if a node does not answer',
    )
    .argument('[service]', 'namespace/name; default: all Services')
    .option('--since <time>', 'only the last 10m, 2h, 30s')
    .addOption(
      new Option('--limit <number>', 'entries to show, the newest')
        .argParser(readLimit)
        .default(USUAL_LIMIT),
    );
  return addNodesOptions(command).action(
    async (service: string | undefined, options: NodesHistoryOptions) => {
      const { since, limit, output } = options;
      const { kubectl, agents, timeoutMs } = await reach(options, given);
      const answers = await askNodes(kubectl, agents, {
        args: [
          'history',
          ...(service === undefined ? [] : [service]),
          ...['-o', 'json', '--limit', String(limit)],
          ...(since === undefined ? [] : ['--since', since]),
        ],
        timeoutMs,
        read: ({ stdout }) => readEntries(stdout),
      });
      if (output === 'json') printJson(nodesData(answers));
      else printPage(mergedText(answers, limit));
      process.exitCode = exitFor(answers, () => ({ isWell: true, cells: [] }));
    },
  );
}

/** Throws where there is an entry that this version has no words for. */
function readEntries(stdout: string): readonly DatedEntry[] {
  const page = recordSaid(stdout);
  saidCount(page, 'completeSinceMs');
  return arrayAt(page, 'entries').filter(isRecord).map(entryOf);
}

function entryOf(raw: JsonRecord): DatedEntry {
  const entry = raw as unknown as DatedEntry;
  saidCount(raw, 'atMs');
  if (typeof sentenceOf(entry.what) !== 'string') {
    throw new TypeError(`its version of Fairlead tells of ${String(entry.what.kind)}`);
  }
  return entry;
}

function mergedText(answers: readonly NodeAnswer<readonly DatedEntry[]>[], limit: number): string {
  const heard = answers.flatMap((answer) =>
    answer.answers ? [{ node: answer.node, entries: answer.said }] : [],
  );
  const merged = mergedEntries(heard);
  const shown = merged.slice(-limit);
  const form = { width: widthNow(), colours: colours(process.stdout, process.env) };
  const entries = shown.map((each) => namedEntry(each, heard.length));
  const nodes = countText(heard.length, 'node', 'nodes');
  return [
    `${countText(shown.length, 'change', 'changes')} on ${nodes}, times by the clock of the first node that had it`,
    '',
    entries.length === 0 ? 'nothing is known' : historyText(entries, form),
    ...silentLines(answers),
  ].join('\n');
}

/** With its nodes before its subject. */
function namedEntry({ nodes, entry }: ClusterEntry, all: number): DatedEntry {
  const who =
    nodes.length <= MOST_NAMED
      ? nodes.join(', ')
      : nodes.length === all
        ? `all ${all} nodes`
        : `${nodes.length} of ${all} nodes`;
  return { ...entry, service: entry.service === '' ? who : `${who}, ${entry.service}` };
}

function readLimit(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('use a number from 1 to 999999');
}

interface NodeEntries {
  readonly node: string;
  readonly entries: readonly DatedEntry[];
}

/** An entry that one or several nodes have. */
interface ClusterEntry {
  /** In their order. */
  readonly nodes: readonly string[];
  /** Of the node that had it first; in the kernel when the last of them had it there. */
  readonly entry: DatedEntry;
}

/**
 * Entries of all nodes by their time, oldest first. What one version of an object changed is one entry,
 * however many nodes have it. The clocks of the nodes may differ: so may the order.
 */
function mergedEntries(all: readonly NodeEntries[]): ClusterEntry[] {
  const merged = new Map<string, ClusterEntry>();
  for (const { node, entries } of all) {
    for (const entry of entries) {
      const key = sameOn(entry) ?? `${node} ${entry.seq}`;
      const known = merged.get(key);
      merged.set(key, known === undefined ? { nodes: [node], entry } : joined(known, node, entry));
    }
  }
  return [...merged.values()].sort(
    (a, b) =>
      a.entry.atMs - b.entry.atMs ||
      (a.nodes[0] ?? '').localeCompare(b.nodes[0] ?? '') ||
      a.entry.seq - b.entry.seq,
  );
}

/** Undefined: it happened on one node. */
function sameOn({ service, what }: DatedEntry): string | undefined {
  if (!('resourceVersion' in what) || what.resourceVersion === '') return undefined;
  return JSON.stringify([service, what]);
}

function joined(known: ClusterEntry, node: string, entry: DatedEntry): ClusterEntry {
  const [first, other] =
    entry.atMs < known.entry.atMs ? [entry, known.entry] : [known.entry, entry];
  const isWaiting = first.kernel === 'waiting' || other.kernel === 'waiting';
  const isInKernel = first.kernel === 'kernel' || other.kernel === 'kernel';
  const { kernel, settledAfterMs, ...rest } = first;
  const settled = isWaiting ? 'waiting' : isInKernel ? 'kernel' : kernel;
  const longest = Math.max(settledAfterMs ?? 0, other.settledAfterMs ?? 0);
  return {
    nodes: [...known.nodes, node],
    entry: {
      ...rest,
      ...(settled === undefined ? {} : { kernel: settled }),
      ...(isWaiting || settled === undefined ? {} : { settledAfterMs: longest }),
    },
  };
}
