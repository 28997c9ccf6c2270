import type { SliceEndpoint, SliceObject } from '../../cluster/objects.ts';
import type { EndpointMove, EndpointState } from './entry.ts';
import { NameList } from './names.ts';

/** Endpoints of one entry that are named: all of a slice of the usual size. */
const MOST_NAMED = 128;

/** Two slices with more than this together are not compared: the API allows 1,000 in each. */
export const MOST_COMPARED = 4_000;

/** How the endpoints of a slice changed, those that changed alike together. */
export function movesBetween(
  before: SliceObject | undefined,
  after: SliceObject | undefined,
): readonly EndpointMove[] {
  const old = before?.endpoints ?? [];
  const now = after?.endpoints ?? [];
  const moves = new Moves();
  let index = 0;
  // Nearly all endpoints stay where they are in the list.
  for (; index < old.length && index < now.length; index++) {
    const [from, to] = [old[index], now[index]];
    if (from === undefined || to === undefined || from.address !== to.address) break;
    moves.add(from, to);
  }
  const rest = new Map<string, SliceEndpoint>();
  for (let at = index; at < old.length; at++) {
    const endpoint = old[at];
    if (endpoint !== undefined) rest.set(endpoint.address, endpoint);
  }
  for (let at = index; at < now.length; at++) {
    const endpoint = now[at];
    if (endpoint === undefined) continue;
    moves.add(rest.get(endpoint.address), endpoint);
    rest.delete(endpoint.address);
  }
  for (const endpoint of rest.values()) moves.add(endpoint, undefined);
  return moves.all();
}

class Moves {
  readonly #groups = new Map<string, { move: Omit<EndpointMove, 'endpoints'>; list: NameList }>();
  #room = MOST_NAMED;

  add(before: SliceEndpoint | undefined, after: SliceEndpoint | undefined): void {
    const from = before && stateOf(before);
    const to = after && stateOf(after);
    if (from === to && isSameBesides(before, after)) return;
    const key = `${from} ${to}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      const move = { ...(from ? { from } : {}), ...(to ? { to } : {}) };
      group = { move, list: new NameList() };
      this.#groups.set(key, group);
    }
    const name = (after ?? before)?.address ?? '';
    if (group.list.add(name, this.#room)) this.#room--;
  }

  all(): readonly EndpointMove[] {
    const groups = Array.from(this.#groups.values());
    return groups.map(({ move, list }) => ({ ...move, endpoints: list.names() }));
  }
}

function stateOf({ ready, serving, terminating }: SliceEndpoint): EndpointState {
  if (!terminating) return ready ? 'ready' : 'not ready';
  if (ready) return 'terminating, ready';
  return serving ? 'terminating, serving' : 'terminating';
}

/** Whether the fields besides the state are equal. */
function isSameBesides(a: SliceEndpoint | undefined, b: SliceEndpoint | undefined): boolean {
  return (
    a?.nodeName === b?.nodeName &&
    isSameList(a?.zoneHints, b?.zoneHints) &&
    isSameList(a?.nodeHints, b?.nodeHints)
  );
}

function isSameList(a: readonly string[] = [], b: readonly string[] = []): boolean {
  return a === b || (a.length === b.length && a.every((text, index) => text === b[index]));
}
