import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SysctlChange, Sysctls } from './sysctl.ts';
import { SysctlError, systemCode } from './sysctl-error.ts';

const VERSION = 1;
/** Everything that Fairlead sets is below. Others, such as kernel/core_pattern, name programs to run. */
const OUR_SETTINGS = 'net/';

/** Settings that we changed, by name: the last value that was not ours, and ours. */
export type SysctlState = ReadonlyMap<string, { readonly before: string; readonly after: string }>;

/**
 * A setting that is changed again keeps its first saved value, unless another process changed it
 * meanwhile: then that value is saved.
 */
export function withChanges(state: SysctlState, changes: readonly SysctlChange[]): SysctlState {
  const merged = new Map(state);
  for (const { name, before, after } of changes) {
    const earlier = state.get(name);
    merged.set(name, { before: earlier?.after === before ? earlier.before : before, after });
  }
  return merged;
}

/** Empty when there is no file. */
export async function readSysctlState(path: string): Promise<SysctlState> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return new Map();
    throw stateError(`cannot read ${path}`, error);
  }
  const state = parseState(text);
  if (state === undefined) throw stateError(`${path} is not a settings file of Fairlead`);
  return state;
}

/** Atomically: a partial file would lose the saved values. */
export async function writeSysctlState(path: string, state: SysctlState): Promise<void> {
  try {
    if (state.size === 0) return await rm(path, { force: true });
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    const settings = Object.fromEntries([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
    const temporary = `${path}.${process.pid}`;
    await rm(temporary, { force: true });
    // Exclusively: a symbolic link there must not be followed.
    const text = `${JSON.stringify({ version: VERSION, settings }, null, 2)}\n`;
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    throw stateError(`cannot write ${path}`, error);
  }
}

export interface Restored {
  readonly changes: readonly SysctlChange[];
  /** Changed by another process since, or missing. */
  readonly leftAlone: readonly string[];
  readonly problems: readonly SysctlError[];
}

/** Restores the saved values and forgets them, except for those that could not be set. */
export async function restoreSysctls(sysctls: Sysctls, path: string): Promise<Restored> {
  const { unfinished, ...restored } = restore(sysctls, await readOwnState(path));
  await writeSysctlState(path, unfinished);
  return restored;
}

/** The changes that `restoreSysctls` would make. */
export async function plannedRestore(sysctls: Sysctls, path: string): Promise<Restored> {
  const kept: Sysctls = {
    read: (name) => sysctls.read(name),
    write: (name, value) => {
      const before = sysctls.read(name);
      return before === value ? undefined : { name, before, after: value };
    },
  };
  const { unfinished: _, ...restored } = restore(kept, await readOwnState(path));
  return restored;
}

async function readOwnState(path: string): Promise<SysctlState> {
  const state = await readSysctlState(path);
  const foreign = [...state.keys()].find((name) => !name.startsWith(OUR_SETTINGS));
  if (foreign !== undefined)
    throw stateError(`${path} contains ${foreign}, which Fairlead never sets`);
  return state;
}

function restore(sysctls: Sysctls, state: SysctlState): Restored & { unfinished: SysctlState } {
  const changes: SysctlChange[] = [];
  const leftAlone: string[] = [];
  const problems: SysctlError[] = [];
  const unfinished = new Map(state);
  for (const [name, { before, after }] of state) {
    try {
      const change = sysctls.read(name) === after ? sysctls.write(name, before) : undefined;
      if (change === undefined) leftAlone.push(name);
      else changes.push(change);
      unfinished.delete(name);
    } catch (error) {
      if (!(error instanceof SysctlError)) throw error;
      problems.push(error);
      // A setting that is gone will not come back with its old value.
      if (error.code === 'SYSCTL_MISSING') unfinished.delete(name);
    }
  }
  return { changes, leftAlone, problems, unfinished };
}

function parseState(text: string): SysctlState | undefined {
  const file = parseJson(text);
  if (!isObject(file) || file['version'] !== VERSION || !isObject(file['settings'])) return;
  const state = new Map<string, { before: string; after: string }>();
  for (const [name, entry] of Object.entries(file['settings'])) {
    if (!isObject(entry)) return undefined;
    const { before, after } = entry;
    if (typeof before !== 'string' || typeof after !== 'string') return undefined;
    state.set(name, { before, after });
  }
  return state;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Invalid JSON is treated like any other file that is not ours.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stateError(message: string, cause?: unknown): SysctlError {
  const next =
    'remove the file if it is damaged, and check the permissions of its folder; until then the kernel ' +
    'settings from before Fairlead cannot be restored';
  return new SysctlError('SYSCTL_STATE', message, { next, cause });
}
