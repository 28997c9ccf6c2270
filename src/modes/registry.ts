import { MODE_NAMES, type ModeName } from '../config/modes.ts';
import { WINGS } from '../wings/registry.ts';
import type { Mode } from './mode.ts';
import { ModeError } from './mode-error.ts';
import type { Part } from './part.ts';

type Load = () => Promise<Mode>;

const CORE = { nftables: async () => (await import('./nftables.ts')).NFTABLES };

/** In the order in which their parts are removed. */
const LOADS = new Map(
  [...Object.values(WINGS).map(({ modes }) => modes), CORE].flatMap(
    (modes = {}) => Object.entries(modes) as (readonly [ModeName, Load])[],
  ),
);

/** Rejects where this build lacks the mode. */
export async function modeNamed(name: ModeName): Promise<Mode> {
  const load = LOADS.get(name);
  if (load === undefined) throw missing(name);
  return await load();
}

/** Throws where this build lacks the mode; loads nothing. */
export function assertBuilt(name: ModeName): void {
  if (!LOADS.has(name)) throw missing(name);
}

function missing(name: ModeName): ModeError {
  return new ModeError(`this build lacks mode ${name}`, {
    code: 'MODE_MISSING',
    next: `use one of its modes (${builtModes().join(', ')}), or a complete build`,
  });
}

/** In the order of `MODE_NAMES`. */
function builtModes(): readonly ModeName[] {
  return MODE_NAMES.filter((name) => LOADS.has(name));
}

/** In the order of `MODE_NAMES`. */
export async function allModes(): Promise<readonly Mode[]> {
  return await Promise.all(builtModes().map(modeNamed));
}

/** Of an agent, which may be of another build: undefined where this one lacks its mode. */
export async function modeOfAgent(name: string): Promise<Mode | undefined> {
  const known = builtModes().find((mode) => mode === name);
  return known === undefined ? undefined : await modeNamed(known);
}

/** Everything that any mode may have in the kernel, in the order in which it is removed. */
export async function allParts(): Promise<readonly Part[]> {
  const modes = await Promise.all([...LOADS.values()].map((load) => load()));
  // Packets reach the front of a mode first.
  const fronts = modes.flatMap(({ parts }) => parts.slice(0, -1));
  const behind = modes.flatMap(({ parts }) => parts.slice(-1));
  const all = [...fronts, ...behind];
  return all.filter(({ name }, index) => all.findIndex((part) => part.name === name) === index);
}
