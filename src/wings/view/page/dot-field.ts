import type { DotChanges, DotState, Dots } from '../protocol/dots-answer.ts';

/** How each state is called, and drawn: never by its colour alone. */
export const DOT_STATES: readonly {
  readonly state: DotState;
  readonly word: string;
  readonly means: string;
}[] = [
  { state: 'q', word: 'quiet', means: 'no connection since this page was opened' },
  { state: 'u', word: 'used', means: 'has open connections, or had new ones' },
  { state: 'b', word: 'busy', means: 'new connections in this second' },
  { state: 'w', word: 'not in the kernel', means: 'waits for the kernel, or was rejected by it' },
  {
    state: 'l',
    word: 'no endpoint here',
    means: 'dropped: traffic policy Local and no endpoint on this node',
  },
  { state: 'n', word: 'no endpoint', means: 'rejected: it has no endpoint at all' },
];

export function wordOf(state: DotState): string {
  return DOT_STATES.find((each) => each.state === state)?.word ?? state;
}

export interface DotGroup {
  readonly namespace: string;
  readonly from: number;
  readonly count: number;
}

/** Every Service with its state, by index. A change of one costs one. */
export class DotField {
  version: number | undefined;
  groups: readonly DotGroup[] = [];
  #names: readonly string[] = [];
  #states: DotState[] = [];
  readonly #counts = new Map<DotState, number>();
  /** That of the server; another one than `version`: to be fetched. */
  wantedVersion: number | undefined;
  readonly #drawers = new Set<(index: number | 'all') => void>();
  /** Came while the dots were fetched. */
  #early: DotChanges['changed'][number][] = [];

  get size(): number {
    return this.#names.length;
  }

  get isStale(): boolean {
    return this.wantedVersion !== this.version;
  }

  onChange(draw: (index: number | 'all') => void, signal: AbortSignal): void {
    this.#drawers.add(draw);
    signal.addEventListener('abort', () => this.#drawers.delete(draw), { once: true });
  }

  fill({ version, namespaces }: Dots): void {
    const names: string[] = [];
    const states: DotState[] = [];
    this.groups = namespaces.map(({ name, services, states: given }) => {
      const from = names.length;
      for (const [at, service] of services.entries()) {
        names.push(`${name}/${service}`);
        states.push((given[at] ?? 'q') as DotState);
      }
      return { namespace: name, from, count: services.length };
    });
    this.#names = names;
    this.#states = states;
    this.version = version;
    this.wantedVersion ??= version;
    this.#counts.clear();
    for (const state of states) this.#add(state, 1);
    const early = this.#early;
    this.#early = [];
    if (!this.isStale) for (const [index, state] of early) this.#set(index, state);
    this.#tell('all');
  }

  change({ version, changed }: DotChanges): void {
    if (version === undefined) return;
    if (version !== this.wantedVersion) this.#early = [];
    this.wantedVersion = version;
    if (this.isStale) {
      this.#early.push(...changed);
      return;
    }
    for (const [index, state] of changed) {
      if (this.#set(index, state)) this.#tell(index);
    }
  }

  nameOf(index: number): string {
    return this.#names[index] ?? '';
  }

  stateOf(index: number): DotState {
    return this.#states[index] ?? 'q';
  }

  indexOf(service: string): number {
    return this.#names.indexOf(service);
  }

  countOf(state: DotState): number {
    return this.#counts.get(state) ?? 0;
  }

  /** The first of a state, or of all, by name. */
  list(state: DotState | undefined, most: number): number[] {
    const found: number[] = [];
    for (let index = 0; index < this.size && found.length < most; index += 1) {
      if (state === undefined || this.#states[index] === state) found.push(index);
    }
    return found;
  }

  /** Indices of a group, what needs attention first and then the busiest. */
  inOrder({ from, count }: DotGroup): number[] {
    const byState: Record<DotState, number[]> = { n: [], l: [], w: [], b: [], u: [], q: [] };
    for (let index = from; index < from + count; index += 1) {
      byState[this.stateOf(index)].push(index);
    }
    return Object.values(byState).flat();
  }

  #set(index: number, state: DotState): boolean {
    const before = this.#states[index];
    if (before === undefined || before === state) return false;
    this.#states[index] = state;
    this.#add(before, -1);
    this.#add(state, 1);
    return true;
  }

  #add(state: DotState, by: number): void {
    this.#counts.set(state, (this.#counts.get(state) ?? 0) + by);
  }

  #tell(index: number | 'all'): void {
    for (const draw of this.#drawers) draw(index);
  }
}
