import type { NodeFacts } from '../../dataplanes/contract.ts';
import { TRANSLATING_CHAINS } from '../../dataplanes/nftables/chains.ts';
import { TABLE_NAME } from '../../dataplanes/nftables/sets.ts';
import type { SourceClass } from '../../forwarding/model.ts';
import type { FrontCase, FrontEntry, ModeProof } from '../../modes/proof/mode-proof.ts';
import { nftablesProof } from '../../modes/proof/nftables-proof.ts';
import { connectedPeer } from './plane/connected-peer.ts';
import { type RenderedEntry, type RenderedPlace, renderedEntries } from './plane/render.ts';

/** The rules behind the hooks are those of mode nftables. */
export function hooksProof(of: {
  readonly placeOf: (facts: NodeFacts) => RenderedPlace;
  /** Where packets meet a program; undefined: only sockets do. */
  readonly packetHook: string | undefined;
}): ModeProof {
  const { placeOf, packetHook } = of;
  return {
    ...nftablesProof(({ facts }) => facts),
    front: {
      ...(packetHook === undefined ? {} : { packetHook }),
      meetsSockets: (source, facts) => meetsSockets(source, placeOf(facts)),
      connectedTo: connectedPeer,
      isUntranslated: ({ table, chain }) =>
        table === TABLE_NAME && TRANSLATING_CHAINS.includes(chain),
      account: (of) => entriesOf(of, placeOf(of.facts)),
    },
  };
}

/** Whether a hook meets the sockets of such a client when they connect. */
export function meetsSockets(source: SourceClass, place: RenderedPlace): boolean {
  const { podsMet, onlyOwnSockets } = place;
  return source === 'host' || (source === 'pod' && podsMet === 'at sockets' && !onlyOwnSockets);
}

function entriesOf(
  { row, frontend, source, endpoint }: FrontCase,
  place: RenderedPlace,
): readonly FrontEntry[] {
  const all = renderedEntries(row, frontend, place);
  const entry = all.find((each) => each.source === source);
  if (endpoint === undefined) return entry === undefined ? [] : [notTranslated(entry)];
  const slot = all.find((each) => each.endpoint === endpoint);
  return [
    ...(entry === undefined ? [] : [entry]),
    slot === undefined
      ? { map: 'slots', text: endpoint, does: 'no desired slot of this Service has this endpoint' }
      : { ...slot, does: 'was chosen' },
  ];
}

/** A connection that the hook should have translated was left to the rules behind. */
function notTranslated(entry: RenderedEntry): FrontEntry {
  if (entry.isPassed) return entry;
  return { ...entry, does: `did not: the rules behind the hook got it (${entry.does})` };
}
