import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import type { Clock } from '../../time/clock.ts';
import { sleep } from '../../time/sleep.ts';
import { datesBy } from '../dates.ts';
import type { History } from './history.ts';
import { awaitsKernel, type HistoryEntry, type SavedEntry } from './history-entry.ts';

const FORMAT = { format: 'fairlead-history-1' };
const MOST_ENTRIES = 1_000;
const MOST_BYTES = 1024 * 1024;
const SAVE_EVERY_MS = 2_000;
/** While Services change all the time, saving takes a two-thousandth of it: all entries are written again. */
const REST_PER_WORK = 2_000;
/** A file system that hangs must not keep the agent from its end. */
const PATIENCE_MS = 1_000;
const WRITABLE_BY_OTHERS = 0o022;
/** A link is not followed, and a pipe does not block. */
const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const WRITE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | SAFELY;

/**
 * Keeps the newest entries in a file until the signal, so that the next run of the agent has them.
 * A failure is reported once and costs nothing but the file.
 */
export async function keepHistory(
  parts: {
    readonly path: string;
    readonly history: Pick<History, 'ring' | 'changeCount'>;
    readonly clock: Clock;
    readonly onProblem: (error: unknown) => void;
  },
  signal: AbortSignal,
): Promise<void> {
  const { path, history, clock, onProblem } = parts;
  let [savedCount, isWriting, isTold, workMs] = [-1, false, false, 0];
  const save = async (): Promise<void> => {
    const { changeCount } = history;
    if (isWriting || savedCount === changeCount) return;
    isWriting = true;
    try {
      const startedAtMs = performance.now();
      const text = savedText(history.ring.all(), clock);
      workMs = performance.now() - startedAtMs;
      await writeWhole(path, text);
      [savedCount, isTold] = [changeCount, false];
    } catch (error) {
      if (!isTold) onProblem(error);
      isTold = true;
    } finally {
      isWriting = false;
    }
  };
  while (!signal.aborted) {
    await clock.sleep(Math.max(SAVE_EVERY_MS, workMs * REST_PER_WORK), signal);
    const done = new AbortController();
    await Promise.race([save().finally(() => done.abort()), sleep(PATIENCE_MS, done.signal)]);
  }
}

/** The newest that fit, the oldest first. */
function savedText(all: Iterable<HistoryEntry>, clock: Clock): string {
  const dateOf = datesBy(clock);
  const lines: string[] = [];
  let bytes = 0;
  for (const entry of [...all].slice(-MOST_ENTRIES).toReversed()) {
    const { service, atMs, text, settled, settledAfterMs, again } = entry;
    const dated = again && { count: again.count, lastAtMs: dateOf(again.lastAtMs) };
    const about = { service, atMs: dateOf(atMs), text, settled, settledAfterMs, again: dated };
    const line = JSON.stringify(about);
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MOST_BYTES / 2) break;
    lines.push(line);
  }
  return [JSON.stringify(FORMAT), ...lines.toReversed(), ''].join('\n');
}

/** All of it or nothing: a reader never sees a part, also after a crash. */
async function writeWhole(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, WRITE_FLAGS, 0o600);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

/** What the last run saved; empty where there is no file, or not one that only this user can write. */
export function readSavedHistory(path: string): readonly SavedEntry[] {
  const text = readOwn(path);
  if (text === undefined) return [];
  const [head, ...lines] = text.split('\n');
  if (head !== JSON.stringify(FORMAT)) return [];
  return lines.slice(0, MOST_ENTRIES).flatMap(entryOf);
}

/** For the ring of this run, whose clock is another one. None is in the future. */
export function pastEntries(
  saved: readonly SavedEntry[],
  clock: Pick<Clock, 'monotonicMs' | 'wallMs'>,
): readonly SavedEntry[] {
  const nowMs = clock.monotonicMs();
  const aheadMs = datesBy(clock)(0);
  const atOf = (dateMs: number): number => Math.min(nowMs, dateMs - aheadMs);
  return saved.map((entry) => {
    const isOpen = awaitsKernel(entry) || entry.kind === 'repaired';
    const { again } = entry;
    return {
      ...entry,
      atMs: atOf(entry.atMs),
      settled: entry.settled ?? (isOpen ? 'unknown' : undefined),
      again: again && { count: again.count, lastAtMs: atOf(again.lastAtMs) },
    };
  });
}

function readOwn(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | SAFELY);
    const found = fstatSync(fd);
    const isOwn = found.uid === 0 || found.uid === process.geteuid?.();
    const isSafe = found.isFile() && isOwn && (found.mode & WRITABLE_BY_OTHERS) === 0;
    return isSafe && found.size <= MOST_BYTES ? readFileSync(fd, 'utf8') : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** None where the line is not one that an agent has written. */
function entryOf(line: string): SavedEntry[] {
  const read = jsonOf(line);
  if (!ENTRY(read)) return [];
  const { service, atMs, text, settled, settledAfterMs, again } = read as SavedEntry;
  const what = jsonOf(text);
  if (!PACKED(what) && !OTHERS.some((isOne) => isOne(what))) return [];
  const { k, kind = k } = what as Record<'k' | 'kind', SavedEntry['kind']>;
  return [{ service, atMs, kind, text, settled, settledAfterMs, again }];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const flag: Check = (value) => typeof value === 'boolean';
const count: Check = (value) => typeof value === 'number' && value >= 0;
/** What a Date can have. */
const date: Check = (value) => count(value) && (value as number) <= 8.64e15;
const one =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
/** `first`: of the first ones, in order; `rest`: of all others. */
const list =
  (first: readonly Check[], rest?: Check): Check =>
  (value) =>
    Array.isArray(value) &&
    value.length >= first.length &&
    value.every((each, index) => (first[index] ?? rest)?.(each) === true);
const having =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(fields).every(([name, check]) =>
      check((value as Readonly<Record<string, unknown>>)[name]),
    );

const names = having({ first: list([], text), count });
const state = one(
  0,
  'ready',
  'not ready',
  'terminating',
  'terminating, serving',
  'terminating, ready',
);

const ENTRY = having({
  service: text,
  atMs: date,
  text,
  settled: maybe(one('kernel', 'unneeded', 'unknown')),
  settledAfterMs: maybe(count),
  again: maybe(having({ count, lastAtMs: date })),
});

/** As `pack` writes it. */
const PACKED = having({
  k: one('service', 'endpoints', 'node'),
  c: one('created', 'changed', 'deleted'),
  f: maybe(list([], list([text, text, text]))),
  s: maybe(text),
  m: maybe(list([], list([state, state, count], text))),
  u: maybe(list([count, count])),
  v: maybe(text),
  w: maybe(list([], list([text, text, text, date]))),
});

const OTHERS: readonly Check[] = [
  having({ kind: one('started'), mode: text, version: text, continues: maybe(flag) }),
  having({ kind: one('flows'), reason: text, count, endpoints: names }),
  having({
    kind: one('drift'),
    what: text,
    isOwn: flag,
    by: maybe(having({ pid: count, program: text })),
  }),
  having({
    kind: one('repaired'),
    reason: text,
    wrongRows: count,
    differences: names,
    services: list([], text),
  }),
  having({ kind: one('rejected'), rows: count, code: text, message: text, isAll: flag }),
  having({ kind: one('node settings'), fields: list([], text) }),
  having({ kind: one('configuration'), field: text, before: text, after: text, inForce: text }),
  having({ kind: one('condition'), name: text, isTrue: flag }),
  having({ kind: one('first sync') }),
];
