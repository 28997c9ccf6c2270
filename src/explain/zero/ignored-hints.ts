import type { Candidate } from '../../forwarding/candidates.ts';
import type { NodeView } from '../../forwarding/model.ts';
import type { Remark } from '../explanation.ts';

/** Hinted zones that a sentence lists. */
const MOST_ZONES = 3;

/** Topology hints that do not narrow the choice, and why; none: they do, or there are none. */
export function ignoredHints(
  candidates: readonly Candidate[],
  { zone, nodeName, isNode }: Pick<NodeView, 'zone' | 'nodeName' | 'isNode'>,
): readonly Remark[] {
  const ready = candidates.filter(({ state }) => state === 'ready');
  if (ready.some(({ verdicts }) => isNarrowed(verdicts.cluster))) return [];
  const zones = reasonOf(
    ready.map(({ zoneHints = [] }) => zoneHints),
    { kind: 'zone', here: zone },
  );
  const nodes =
    isNode === false
      ? []
      : reasonOf(
          ready.map(({ nodeHints = [] }) => nodeHints),
          { kind: 'node', here: nodeName },
        );
  return [...zones, ...nodes].map((text) => ({ topic: 'hints', text }));
}

function isNarrowed(verdict: Candidate['verdicts']['cluster']): boolean {
  return verdict.startsWith('hinted for') || verdict === 'list not used';
}

function reasonOf(
  hints: readonly (readonly string[])[],
  { kind, here }: { readonly kind: 'zone' | 'node'; readonly here: string },
): readonly string[] {
  const hinted = hints.filter((each) => each.length > 0);
  if (hinted.length === 0) return [];
  const ignored = `topology hints are ignored: `;
  if (hinted.length < hints.length) {
    const count = `${hinted.length} of ${hints.length} ready endpoints`;
    return [
      `${ignored}only ${count} ${hinted.length === 1 ? 'has' : 'have'} one for a ${kind}, and hints count if all have one`,
    ];
  }
  if (here === '') {
    return [`${ignored}this node has no zone (label topology.kubernetes.io/zone)`];
  }
  const all = [...new Set(hinted.flat())].sort();
  // Every one is hinted for this place too: they narrow nothing, and are obeyed.
  if (all.includes(here)) return [];
  const some = all.slice(0, MOST_ZONES).join(', ') + (all.length > MOST_ZONES ? ', …' : '');
  return [`${ignored}none is for ${kind} ${here}, only for ${some}`];
}
