import type { EndpointState } from '../../agent/history/entry.ts';
import type { DatedEntry } from '../../agent/history/page.ts';

/** What changes add up to: an endpoint that left one slice and joined another did not leave. */
export interface Tally {
  readonly joined: number;
  readonly left: number;
  /** Came and went within the entries. */
  readonly passed: number;
  /** Changed, and are as they were. */
  readonly flapped: number;
  readonly became: ReadonlyMap<EndpointState, number>;
  /** Changes of endpoints that no entry names. */
  readonly unnamed: number;
}

interface Seen {
  /** In which state it was first, by slice; undefined: it was not there. */
  readonly from: Map<string, EndpointState | undefined>;
  readonly to: Map<string, EndpointState | undefined>;
}

export function tallyOf(entries: readonly DatedEntry[]): Tally {
  const seen = new Map<string, Seen>();
  let unnamed = 0;
  for (const { service, what } of entries) {
    if (what.kind !== 'endpoints') continue;
    if (what.uncompared) unnamed += Math.abs(what.uncompared.after - what.uncompared.before);
    for (const { from, to, endpoints } of what.moves) {
      unnamed += endpoints.count - endpoints.first.length;
      for (const address of endpoints.first) {
        const key = `${service} ${address}`;
        const known = seen.get(key) ?? { from: new Map(), to: new Map() };
        if (!known.from.has(what.slice)) known.from.set(what.slice, from);
        known.to.set(what.slice, to);
        seen.set(key, known);
      }
    }
  }
  return { ...added(seen.values()), unnamed };
}

function added(all: Iterable<Seen>): Omit<Tally, 'unnamed'> {
  let [joined, left, passed, flapped] = [0, 0, 0, 0];
  const became = new Map<EndpointState, number>();
  for (const seen of all) {
    const [from, to] = [stateIn(seen.from), stateIn(seen.to)];
    if (from === undefined && to === undefined) passed++;
    else if (from === undefined) joined++;
    else if (to === undefined) left++;
    else if (from === to) flapped++;
    else became.set(to, (became.get(to) ?? 0) + 1);
  }
  return { joined, left, passed, flapped, became };
}

/** Of all slices that it is in; the first counts, as there is nearly always one. */
function stateIn(slices: Seen['from']): EndpointState | undefined {
  for (const state of slices.values()) if (state !== undefined) return state;
  return undefined;
}
