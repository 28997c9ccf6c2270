import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { HistoryPage } from '../agent/history/history-page.ts';
import { ServerError } from '../agent/servers/server-error.ts';
import { parseDurationMs } from '../config/duration.ts';
import { HISTORY_FILE, RUN_FOLDER, STATUS_SOCKET } from '../config/run-folder.ts';
import { systemClock } from '../time/clock.ts';
import { CommandError } from './command-error.ts';
import { followHistory } from './history/follow.ts';
import { type Asked, headline } from './history/headline.ts';
import { dayOf, historyText } from './history/history-text.ts';
import { readWholeHistory, savedEntries } from './history/read-history.ts';
import { parseWish } from './services/select-rows.ts';
import { countText } from './status/status-texts.ts';
import { colours } from './terminal/colour.ts';
import { wrapped } from './terminal/fit.ts';
import { printJson, printJsonLine, printPage } from './terminal/print.ts';
import { visible } from './terminal/visible.ts';

interface HistoryOptions {
  readonly since?: number;
  readonly limit: number;
  readonly follow?: true;
  readonly runFolder: string;
  readonly output: 'text' | 'json';
}

const USUAL_WIDTH = 80;
const DEFAULT_LIMIT = 50;

/** `fairlead history`: what changed on this node, who wrote it, and when the kernel had it. */
export function historyCommand(): Command {
  return new Command('history')
    .description(
      'show what changed on this node, newest last: who wrote it, when this node learned of it and when it was in the kernel; as far back as the agent remembers',
    )
    .argument('[service]', 'namespace/name; default: all Services')
    .addOption(new Option('--since <time>', 'only the last 10m, 2h, 30s').argParser(parseSince))
    .addOption(
      new Option('--limit <number>', 'entries to show, the newest')
        .argParser(parseLimit)
        .default(DEFAULT_LIMIT),
    )
    .option('--follow', 'keep running, and print what comes; with -o json one line each')
    .option('--run-folder <path>', 'the folder with the status socket of the agent', RUN_FOLDER)
    .addOption(new Option('-o, --output <form>').choices(['text', 'json']).default('text'))
    .action(show);
}

async function show(service: string | undefined, options: HistoryOptions): Promise<void> {
  const wish = parseWish(service).service;
  const asked: Asked = {
    ...(wish === undefined ? {} : { service: wish }),
    ...(options.since === undefined ? {} : { withinMs: options.since }),
  };
  const request = { socketPath: join(options.runFolder, STATUS_SOCKET) };
  const page = await readOrSaved(asked, options);
  assertKnown(page, asked);
  print(page, asked, options);
  if (!options.follow) return;
  const never = new AbortController().signal;
  const last = page.entries.at(-1);
  await followHistory(
    {
      request,
      clock: systemClock,
      ...(asked.service === undefined ? {} : { service: asked.service }),
      after: { run: page.run, seq: last?.seq ?? 0 },
      onEntries: (entries, before) => {
        if (options.output === 'json') for (const entry of entries) printJsonLine(entry);
        else printPage(historyText(entries, { ...form(), dayBefore: before ?? dayOfLast(page) }));
      },
      onNote: (note) => {
        if (options.output === 'text') printPage(visible(note));
      },
    },
    never,
  );
}

/** Where no agent answers, what the last one has saved is printed before the error. */
async function readOrSaved(asked: Asked, options: HistoryOptions): Promise<HistoryPage> {
  const { runFolder, limit, output } = options;
  try {
    return await readWholeHistory(asked, { socketPath: join(runFolder, STATUS_SOCKET) });
  } catch (error) {
    const entries = savedEntries(asked, join(runFolder, HISTORY_FILE)).slice(-limit);
    if (!(error instanceof ServerError) || entries.length === 0) throw error;
    if (output === 'json') printJson({ ...asked, isSaved: true, entries });
    else printPage(`saved by the last run of the agent:\n\n${historyText(entries, form())}`);
    throw error;
  }
}

/** A name that never existed and one of which nothing is known look the same. */
function assertKnown({ now, entries }: HistoryPage, { service }: Asked): void {
  if (service === undefined || now?.exists) return;
  if (entries.some((entry) => entry.service === service)) return;
  throw new CommandError(`Service ${service} does not exist, and no change of it is known`, {
    code: 'SERVICE_NOT_FOUND',
    next: 'run `fairlead services` to list all; the history begins with the start of the agent',
  });
}

function print(page: HistoryPage, asked: Asked, options: HistoryOptions): void {
  const entries = page.entries.slice(-options.limit);
  if (options.output === 'json') {
    const { entries: _, hasMore: __, ...about } = page;
    if (options.follow) for (const entry of entries) printJsonLine(entry);
    else printJson({ ...asked, ...about, entries });
    return;
  }
  const { width } = form();
  const lines = wrapped(visible(headline(page, asked)), width);
  const left = page.entries.length - entries.length;
  const more =
    left === 0
      ? []
      : [`${countText(left, 'earlier entry', 'earlier entries')}: --limit ${page.entries.length}`];
  printPage([...lines, '', ...more, historyText(entries, form())].join('\n').trimEnd());
}

function dayOfLast({ entries }: HistoryPage): string {
  const last = entries.at(-1);
  return last === undefined ? '' : dayOf(last.atMs);
}

function form() {
  return {
    width: process.stdout.columns ?? USUAL_WIDTH,
    colours: colours(process.stdout, process.env),
  };
}

function parseSince(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined || ms <= 0)
    throw new InvalidArgumentError('use a time such as 10m, 2h or 30s');
  return ms;
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('use a number from 1 to 999999');
  return Number(text);
}
