import { MODE_NAMES, type ModeName } from '../config/modes.ts';
import { WINGS } from '../wings/wing-registry.ts';
import type { Mode } from './mode.ts';
import type { Part } from './part.ts';
import type { StatusWords } from './status-words.ts';
import type { ModeEntry } from './wing.ts';

/** In the order in which their parts are removed. */
const BUILT: readonly ModeEntry[] = [
  ...WINGS.flatMap(({ modes = [] }) => modes),
  { name: 'nftables', load: async () => (await import('./nftables.ts')).NFTABLES },
];

/** Rejects where this build lacks the mode. */
export async function modeNamed(name: ModeName): Promise<Mode> {
  const entry = entryOf(name);
  if (entry === undefined) throw missing(name);
  return await entry.load();
}

/** Throws where this build lacks the mode; loads nothing. */
export function assertBuilt(name: ModeName): void {
  if (entryOf(name) === undefined) throw missing(name);
}

function entryOf(name: string): ModeEntry | undefined {
  return BUILT.find((entry) => entry.name === name);
}

function missing(name: ModeName): ModeError {
  return new ModeError(`this build lacks mode ${name}`, {
    code: 'MODE_MISSING',
    next: `use one of its modes (${builtModes().join(', ')}), or a complete build`,
  });
}

/** In the order of `MODE_NAMES`. */
function builtModes(): readonly ModeName[] {
  return MODE_NAMES.filter((name) => entryOf(name) !== undefined);
}

/** In the order of `MODE_NAMES`. */
export async function allModes(): Promise<readonly Mode[]> {
  return await Promise.all(builtModes().map(modeNamed));
}

/** Of an agent, which may be of another build: undefined where this one lacks its mode. */
export async function modeOfAgent(name: string): Promise<Mode | undefined> {
  return await entryOf(name)?.load();
}

/** Of an agent: undefined where its mode adds nothing to the page, or this build lacks it. */
export async function statusWordsOf(name: string): Promise<StatusWords | undefined> {
  return await entryOf(name)?.statusWords?.();
}

/** Everything that any mode may have in the kernel, in the order in which it is removed. */
export async function allParts(): Promise<readonly Part[]> {
  const modes = await Promise.all(BUILT.map(({ load }) => load()));
  // Packets reach the front of a mode first.
  const fronts = modes.flatMap(({ parts }) => parts.slice(0, -1));
  const behind = modes.flatMap(({ parts }) => parts.slice(-1));
  const all = [...fronts, ...behind];
  return all.filter(({ name }, index) => all.findIndex((part) => part.name === name) === index);
}

/** Why a mode cannot be used: `code` for a program, `next` for a person. */
class ModeError extends Error {
  override readonly name = 'ModeError';
  readonly code: 'MODE_MISSING';
  readonly next: string;

  constructor(message: string, about: { code: ModeError['code']; next: string }) {
    super(message);
    this.code = about.code;
    this.next = about.next;
  }
}
