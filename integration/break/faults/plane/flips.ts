import type { Connection } from './connections.ts';
import type { Acknowledgement } from './questions.ts';

interface Presence {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Connections that were answered by an endpoint that the kernel cannot have chosen: from their
 * begin to their answer it was never there. It may be there from the moment at which the
 * transaction with it is begun until the one without it is acknowledged.
 */
export function misled(
  connections: readonly Connection[],
  acknowledgements: readonly Acknowledgement[],
  addressOf: (name: string) => string,
): Connection[] {
  const presences = presencesOf(acknowledgements);
  return connections.filter(({ by, begunMs, answeredMs }) => {
    if (by === undefined) return false;
    const known = presences.get(addressOf(by)) ?? [];
    return !known.some(({ fromMs, untilMs }) => fromMs <= answeredMs && untilMs >= begunMs);
  });
}

function presencesOf(acknowledgements: readonly Acknowledgement[]): Map<string, Presence[]> {
  const all = new Map<string, Presence[]>();
  const open = new Map<string, number>();
  for (const { begunMs, acknowledgedMs, endpoints } of acknowledgements) {
    for (const endpoint of endpoints) if (!open.has(endpoint)) open.set(endpoint, begunMs);
    for (const [endpoint, fromMs] of open) {
      if (endpoints.includes(endpoint)) continue;
      open.delete(endpoint);
      all.set(endpoint, [...(all.get(endpoint) ?? []), { fromMs, untilMs: acknowledgedMs }]);
    }
  }
  for (const [endpoint, fromMs] of open) {
    const last = { fromMs, untilMs: Number.POSITIVE_INFINITY };
    all.set(endpoint, [...(all.get(endpoint) ?? []), last]);
  }
  return all;
}
