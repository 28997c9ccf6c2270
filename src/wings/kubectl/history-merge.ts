import type { DatedEntry } from '../../agent/history/page.ts';

export interface NodeEntries {
  readonly node: string;
  readonly entries: readonly DatedEntry[];
}

/** An entry that one or several nodes have. */
export interface ClusterEntry {
  /** In their order. */
  readonly nodes: readonly string[];
  /** Of the node that had it first; in the kernel when the last of them had it there. */
  readonly entry: DatedEntry;
}

/**
 * Entries of all nodes by their time, oldest first. What one version of an object changed is one entry,
 * however many nodes have it. The clocks of the nodes may differ: so may the order.
 */
export function mergedEntries(all: readonly NodeEntries[]): ClusterEntry[] {
  const merged = new Map<string, ClusterEntry>();
  for (const { node, entries } of all) {
    for (const entry of entries) {
      const key = sameOn(entry) ?? `${node} ${entry.seq}`;
      const known = merged.get(key);
      merged.set(key, known === undefined ? { nodes: [node], entry } : joined(known, node, entry));
    }
  }
  return [...merged.values()].sort(
    (a, b) =>
      a.entry.atMs - b.entry.atMs ||
      (a.nodes[0] ?? '').localeCompare(b.nodes[0] ?? '') ||
      a.entry.seq - b.entry.seq,
  );
}

/** Undefined: it happened on one node. */
function sameOn({ service, what }: DatedEntry): string | undefined {
  if (!('resourceVersion' in what) || what.resourceVersion === '') return undefined;
  return JSON.stringify([service, what]);
}

function joined(known: ClusterEntry, node: string, entry: DatedEntry): ClusterEntry {
  const [first, other] =
    entry.atMs < known.entry.atMs ? [entry, known.entry] : [known.entry, entry];
  const isWaiting = first.kernel === 'waiting' || other.kernel === 'waiting';
  const isInKernel = first.kernel === 'kernel' || other.kernel === 'kernel';
  const { kernel, settledAfterMs, ...rest } = first;
  const settled = isWaiting ? 'waiting' : isInKernel ? 'kernel' : kernel;
  const longest = Math.max(settledAfterMs ?? 0, other.settledAfterMs ?? 0);
  return {
    nodes: [...known.nodes, node],
    entry: {
      ...rest,
      ...(settled === undefined ? {} : { kernel: settled }),
      ...(isWaiting || settled === undefined ? {} : { settledAfterMs: longest }),
    },
  };
}
