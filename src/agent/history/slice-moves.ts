import type { SliceEndpoint, SliceObject } from '../../cluster/objects.ts';
import type { EndpointMove, EndpointState, Names } from './history-entry.ts';
import { NameList } from './some-names.ts';

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
    const from = old[index] as SliceEndpoint;
    const to = now[index] as SliceEndpoint;
    if (from.address !== to.address) break;
    if (!isSame(from, to)) moves.add(from, to);
  }
  if (index === old.length && index === now.length) return moves.all();
  const rest = new Map<string, SliceEndpoint>();
  for (let at = index; at < old.length; at++) {
    const endpoint = old[at];
    if (endpoint !== undefined) rest.set(endpoint.address, endpoint);
  }
  for (let at = index; at < now.length; at++) {
    const endpoint = now[at];
    if (endpoint === undefined) continue;
    const from = rest.get(endpoint.address);
    if (from === undefined || !isSame(from, endpoint)) moves.add(from, endpoint);
    rest.delete(endpoint.address);
  }
  for (const endpoint of rest.values()) moves.add(endpoint, undefined);
  return moves.all();
}

class Moves {
  /** Few: one for each pair of states. */
  readonly #groups: { from: State; to: State; list: NameList }[] = [];
  #room = MOST_NAMED;

  add(before: SliceEndpoint | undefined, after: SliceEndpoint | undefined): void {
    const from = before && stateOf(before);
    const to = after && stateOf(after);
    let group = this.#groups.find((each) => each.from === from && each.to === to);
    if (group === undefined) {
      group = { from, to, list: new NameList() };
      this.#groups.push(group);
    }
    const name = (after ?? before)?.address ?? '';
    if (group.list.add(name, this.#room)) this.#room--;
  }

  all(): readonly EndpointMove[] {
    return this.#groups.map(({ from, to, list }) => moveOf(from, to, list.names()));
  }
}

type State = EndpointState | undefined;

function moveOf(from: State, to: State, endpoints: Names): EndpointMove {
  if (from === undefined) return to === undefined ? { endpoints } : { to, endpoints };
  return to === undefined ? { from, endpoints } : { from, to, endpoints };
}

function stateOf({ ready, serving, terminating }: SliceEndpoint): EndpointState {
  if (!terminating) return ready ? 'ready' : 'not ready';
  if (ready) return 'terminating, ready';
  return serving ? 'terminating, serving' : 'terminating';
}

function isSame(a: SliceEndpoint, b: SliceEndpoint): boolean {
  return (
    a.ready === b.ready &&
    a.serving === b.serving &&
    a.terminating === b.terminating &&
    a.nodeName === b.nodeName &&
    isSameList(a.zoneHints, b.zoneHints) &&
    isSameList(a.nodeHints, b.nodeHints)
  );
}

function isSameList(a: readonly string[] = NONE, b: readonly string[] = NONE): boolean {
  return a === b || (a.length === b.length && a.every((text, index) => text === b[index]));
}

const NONE: readonly string[] = [];
