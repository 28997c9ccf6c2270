import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { readNode } from '../../agent/servers/status-client.ts';
import { GROUPINGS, type GroupedBy } from '../../commands/groupings.ts';
import { STATUS_SOCKET } from '../../commands/run/folder.ts';
import { RUN_FOLDER } from '../../config/run-folder.ts';
import { modeOfAgent } from '../../modes/registry.ts';
import { systemClock } from '../../time/clock.ts';
import { follow, type Output } from './follow.ts';
import { assertSameConntrack, watchOf } from './open-watch.ts';
import { jsonLines, plainPages, redrawnPages } from './outputs.ts';
import { agentSource } from './sources.ts';

interface TopOptions {
  readonly by: GroupedBy;
  readonly once?: true;
  readonly interval: number;
  readonly rows?: number;
  readonly runFolder: string;
  readonly output: 'text' | 'json';
}

const USUAL_INTERVAL_MS = 2_000;
const LEAST_INTERVAL_MS = 500;
const MOST_INTERVAL_MS = 600_000;
const ROWS_IN_A_PIPE = 20;

/** `fairlead top`: what the Services of this node do now. */
export function topCommand(): Command {
  return new Command('top')
    .description(
      'show the busiest Services, endpoints or clients of this node: new connections a second, open ones, rejected and dropped ones',
    )
    .addOption(
      new Option('--by <what>', 'what a row is').choices(GROUPINGS).default('service' as GroupedBy),
    )
    .option('--once', 'print one tick and exit')
    .option(
      '--interval <time>',
      'time of a tick, such as 2s or 500ms',
      readInterval,
      USUAL_INTERVAL_MS,
    )
    .option('-n, --rows <count>', 'rows to show; default: what fits the terminal', readRows)
    .option('--run-folder <path>', 'the folder with the status socket of the agent', RUN_FOLDER)
    .addOption(
      new Option('-o, --output <form>', 'json: one object for each tick, one on each line')
        .choices(['text', 'json'])
        .default('text'),
    )
    .action(show);
}

async function show(options: TopOptions): Promise<void> {
  const socketPath = join(options.runFolder, STATUS_SOCKET);
  const node = await readNode({ socketPath });
  assertSameConntrack(node, 'top');
  const stop = new AbortController();
  const end = (): void => stop.abort();
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  try {
    using output = outputFor(options);
    await follow({
      watch: watchOf(node, {
        known: await modeOfAgent(node.mode),
        agent: agentSource(socketPath),
        intervalMs: options.interval,
        signal: stop.signal,
      }),
      output,
      by: options.by,
      intervalMs: options.interval,
      isOnce: options.once === true,
      clock: systemClock,
      signal: stop.signal,
    });
  } finally {
    stop.abort();
    process.off('SIGINT', end);
    process.off('SIGTERM', end);
  }
}

function outputFor({ output, once, rows }: TopOptions): Output {
  if (output === 'json') return jsonLines(rows ?? ROWS_IN_A_PIPE);
  if (once || !process.stdout.isTTY) return plainPages(rows ?? ROWS_IN_A_PIPE);
  return redrawnPages(process.stdout, rows);
}

function readInterval(text: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text) ?? [];
  const ms = Number(digits) * ({ ms: 1, s: 1000, m: 60_000 }[unit ?? 's'] ?? Number.NaN);
  if (ms >= LEAST_INTERVAL_MS && ms <= MOST_INTERVAL_MS) return ms;
  throw new InvalidArgumentError('pass a time from 500ms to 10m, such as 2s');
}

function readRows(text: string): number {
  const rows = Number(text);
  if (Number.isInteger(rows) && rows >= 1 && rows <= 1000) return rows;
  throw new InvalidArgumentError('pass a number from 1 to 1000');
}
