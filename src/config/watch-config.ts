import { type FSWatcher, watch } from 'node:fs';
import { lstat, readlink, stat } from 'node:fs/promises';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { sleep } from '../time/sleep.ts';
import { compareFields, type FieldChange } from './config-changes.ts';
import { ConfigError } from './config-error.ts';
import type { LoadedConfig } from './load-config.ts';

/** Time without changes after which a file counts as completely written. */
const SETTLED_MS = 50;
/** Longest wait for a file that is written continuously. */
const SETTLING_DEADLINE_MS = 5000;

export interface ConfigWatch {
  readonly path: string;
  readonly current: LoadedConfig;
  /** Reads the configuration again, flags included. */
  readonly load: () => Promise<LoadedConfig>;
  /** Called when the settings differ. */
  readonly onChange: (change: ConfigChange) => void;
  /** The file is invalid; the previous settings stay in use. */
  readonly onProblem: (error: ConfigError) => void;
}

export interface ConfigChange {
  readonly config: LoadedConfig;
  readonly changes: readonly FieldChange[];
}

/** Follows the file until the signal; resolves then. */
export async function watchConfig(what: ConfigWatch, signal: AbortSignal): Promise<void> {
  const bell = new Bell();
  const watchers = new Watchers(() => bell.ring());
  const onAbort = (): void => bell.ring();
  signal.addEventListener('abort', onAbort);
  let seen: Seen = { config: what.current };
  try {
    // The first round needs no event: the file may have changed since it was read for the first time.
    for (; !signal.aborted; await bell.heard()) {
      const look = await settled(what.path, signal);
      // Start the watchers first: a change after this line triggers another read.
      await follow(what.path, watchers);
      if (signal.aborted) break;
      const reading = await read(what);
      // Changed while it was read: the text may be incomplete.
      if (look !== undefined && look !== (await lookAt(what.path))) bell.ring();
      else seen = report(reading, { seen, what });
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    watchers.follow(new Map());
  }
}

interface Seen {
  readonly config: LoadedConfig;
  /** The last reported problem, so that it is reported once. */
  readonly fault?: string;
}

type Reading = { readonly config: LoadedConfig } | { readonly error: ConfigError };

async function read({ load }: ConfigWatch): Promise<Reading> {
  try {
    return { config: await load() };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { error };
  }
}

function report(reading: Reading, { seen, what }: { seen: Seen; what: ConfigWatch }): Seen {
  if ('error' in reading) {
    const fault = reading.error.message;
    if (fault !== seen.fault) what.onProblem(reading.error);
    return { config: seen.config, fault };
  }
  const changes = compareFields(seen.config.fields, reading.config.fields);
  if (changes.length > 0) what.onChange({ config: reading.config, changes });
  return reading;
}

async function follow(path: string, watchers: Watchers): Promise<void> {
  try {
    watchers.follow(await fileTrail(path));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const problem = { subject: path, message: `cannot be watched for changes: ${reason}` };
    throw new ConfigError('CONFIG_WATCH', [problem], cause);
  }
}

/** Waits until two reads return the same, and returns that; undefined if it never settles. */
async function settled(path: string, signal: AbortSignal): Promise<string | undefined> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(SETTLING_DEADLINE_MS)]);
  let before = await lookAt(path);
  while (!deadline.aborted) {
    await sleep(SETTLED_MS, deadline);
    const now = await lookAt(path);
    if (now === before) return now;
    before = now;
  }
  return undefined;
}

async function lookAt(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs].join(' ');
  } catch (error) {
    // A missing or unreadable file is a state like any other; reading it reports the reason.
    return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
  }
}

/** Keeps a call until it is awaited; several calls become one. */
class Bell {
  #rung = Promise.withResolvers<void>();

  ring(): void {
    this.#rung.resolve();
  }

  async heard(): Promise<void> {
    await this.#rung.promise;
    this.#rung = Promise.withResolvers();
  }
}

class Watchers {
  readonly #open = new Map<string, FSWatcher>();
  readonly #onEvent: () => void;
  #trail: FileTrail = new Map();

  constructor(onEvent: () => void) {
    this.#onEvent = onEvent;
  }

  /** Watches these directories and no others. */
  follow(trail: FileTrail): void {
    this.#trail = trail;
    for (const [directory, watcher] of this.#open) {
      if (!trail.has(directory)) this.#drop(directory, watcher);
    }
    for (const directory of trail.keys()) {
      if (!this.#open.has(directory)) this.#add(directory);
    }
  }

  #add(directory: string): void {
    const watcher = watch(directory, (_event, name) => {
      const isOurs = name === null || this.#trail.get(directory)?.has(name);
      // The kernel watches the directory that was there, not the path: when it goes, so must we.
      const isGone = !isOurs && name === basename(directory);
      if (isGone) this.#drop(directory, watcher);
      if (isOurs || isGone) this.#onEvent();
    });
    watcher.on('error', () => {
      this.#drop(directory, watcher);
      this.#onEvent();
    });
    this.#open.set(directory, watcher);
  }

  #drop(directory: string, watcher: FSWatcher): void {
    this.#open.delete(directory);
    watcher.close();
  }
}

/** Directories and the entries in them that a path depends on. */
type FileTrail = ReadonlyMap<string, ReadonlySet<string>>;

/** Symbolic links that Linux follows before ELOOP. */
const MOST_LINKS = 40;

/**
 * Follows a path through its symbolic links. A ConfigMap in a pod is two of them
 * (`config.conf` → `..data/config.conf`, `..data` → `..2026_11_15/`), and an update replaces the
 * second one, so watching the file alone would see nothing.
 */
export async function fileTrail(path: string): Promise<FileTrail> {
  const trail = new Map<string, Set<string>>();
  const start = resolve(path);
  let directory = parse(start).root;
  let names = start.split(sep).filter((name) => name !== '');
  let links = 0;
  while (names.length > 0) {
    const [name = '', ...rest] = names;
    const entry = join(directory, name);
    const kind = await entryKind(entry);
    if (kind !== 'directory') note(trail, { directory, name });
    if (kind === 'missing' || links > MOST_LINKS) break;
    if (kind === 'link') {
      links++;
      const target = resolve(dirname(entry), await readlink(entry));
      directory = parse(target).root;
      names = [...target.split(sep).filter((part) => part !== ''), ...rest];
    } else {
      directory = entry;
      names = rest;
    }
  }
  return trail;
}

function note(
  trail: Map<string, Set<string>>,
  { directory, name }: { directory: string; name: string },
): void {
  const names = trail.get(directory) ?? new Set();
  trail.set(directory, names.add(name));
}

async function entryKind(path: string): Promise<'directory' | 'file' | 'link' | 'missing'> {
  try {
    const status = await lstat(path);
    if (status.isSymbolicLink()) return 'link';
    return status.isDirectory() ? 'directory' : 'file';
  } catch (error) {
    if (error instanceof Error && 'code' in error && isMissing(error.code)) return 'missing';
    throw error;
  }
}

function isMissing(code: unknown): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}
