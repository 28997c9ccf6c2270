import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { readNode } from '../../agent/servers/status-client.ts';
import { GROUPINGS, type GroupedBy } from '../../commands/groupings.ts';
import { colours } from '../../commands/terminal/colour.ts';
import { printData, printPage } from '../../commands/terminal/print.ts';
import { visibleJson } from '../../commands/terminal/visible.ts';
import { RUN_FOLDER, STATUS_SOCKET } from '../../config/run-folder.ts';
import { modeOfAgent } from '../../modes/mode-registry.ts';
import { type Clock, systemClock } from '../../time/clock.ts';
import { assertSameConntrack, watchOf } from './open-watch.ts';
import { Screen, type ScreenStream } from './terminal-screen.ts';
import { tickLines } from './top-view.ts';
import type { Tick } from './traffic-figures.ts';
import { agentSource } from './traffic-sources.ts';
import type { TrafficWatch } from './traffic-watch.ts';

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

const USUAL_WIDTH = 80;
/** Lines of a page that are not rows: totals, sources, an empty one, the head, how many more. */
const LINES_AROUND = 7;
const LEAST_ROWS = 1;

/** One object on each line. */
function jsonLines(rows: number): Output {
  return {
    rows,
    show: (tick) => printData(visibleJson(JSON.stringify(tick))),
    [Symbol.dispose]: () => undefined,
  };
}

/** A page after the other, for pipes, files and `--once`. */
function plainPages(rows: number): Output {
  let isFirst = true;
  return {
    rows,
    show: (tick) => {
      const form = {
        width: process.stdout.columns || USUAL_WIDTH,
        colours: colours(process.stdout, process.env),
      };
      printPage(`${isFirst ? '' : '\n'}${tickLines(tick, form).join('\n')}`);
      isFirst = false;
    },
    [Symbol.dispose]: () => undefined,
  };
}

/** Pages over each other on a terminal. */
function redrawnPages(stream: ScreenStream, most?: number): Output {
  let last: Tick | undefined;
  const screen = new Screen(stream, () => {
    const form = { width: screen.columns, colours: colours({ isTTY: true }, process.env) };
    return last ? tickLines(last, form) : ['measuring the first interval'];
  });
  screen.enter();
  screen.draw();
  return {
    get rows() {
      const room = Math.max(LEAST_ROWS, screen.rows - LINES_AROUND);
      return Math.min(most ?? room, room);
    },
    show: (tick) => {
      last = tick;
      screen.draw();
    },
    [Symbol.dispose]: () => screen[Symbol.dispose](),
  };
}

/** Where ticks go. */
interface Output extends Disposable {
  /** Rows that it has room for now. */
  readonly rows: number;
  show(tick: Tick): void;
}

interface Following {
  readonly watch: TrafficWatch;
  readonly output: Output;
  readonly by: GroupedBy;
  readonly intervalMs: number;
  readonly isOnce: boolean;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly signal: AbortSignal;
}

/** Shows a tick after each interval, until the signal is aborted; with `isOnce` the first one only. */
async function follow(following: Following): Promise<void> {
  const { watch, output, by, intervalMs, clock, signal } = following;
  await orAborted(signal, () => watch.begin());
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal);
    if (signal.aborted) return;
    const tick = await orAborted(signal, () => watch.tick(by, output.rows));
    if (tick === undefined) return;
    output.show(tick);
    if (following.isOnce) return;
  }
}

/** Undefined: what failed was only cut short. */
async function orAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
