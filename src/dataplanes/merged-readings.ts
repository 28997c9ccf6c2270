import type { AffinityFill, EndpointCount, ReadingKey, Readings } from './contract.ts';

type Merges = {
  readonly [K in ReadingKey]: (front: Readings[K], behind: Readings[K]) => Readings[K];
};

/** What two planes have of a key, where one stands in front of the other. */
export const MERGED: Merges = {
  counters: summedCounts,
  // The front lets pass what it does not forward, so only the plane behind rejects and drops.
  rejected: (_, behind) => behind,
  affinityFill: summedFill,
  attachments: (front, behind) => [...front, ...behind],
  fallback: (front) => front,
  frontends: (front, behind) => {
    const named = [...behind, ...front].map(
      (each) => [`${each.protocol} ${each.address ?? ''} ${each.port}`, each] as const,
    );
    return [...new Map(named).values()];
  },
  inventory: (front, behind) => [...front, ...behind],
};

/** A connection is counted by the plane that translated it, so the two add up. */
function summedCounts(
  front: readonly EndpointCount[],
  behind: readonly EndpointCount[],
): readonly EndpointCount[] {
  const sums = new Map<string, EndpointCount>();
  for (const count of [...behind, ...front]) {
    const id = `${count.service} ${count.endpoint}`;
    const known = sums.get(id);
    sums.set(id, {
      ...count,
      connections: count.connections + (known?.connections ?? 0),
      bytes: count.bytes + (known?.bytes ?? 0),
    });
  }
  return [...sums.values()];
}

/** A client has its affinity entry in the plane that translated it. */
function summedFill(front: AffinityFill, behind: AffinityFill): AffinityFill {
  return {
    remembered: behind.remembered + front.remembered,
    room: behind.room + front.room,
    full: [...new Set([...behind.full, ...front.full])].sort(),
  };
}
