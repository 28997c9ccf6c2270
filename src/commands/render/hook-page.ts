import type { Desired, NodeFacts } from '../../dataplanes/contract.ts';
import { PodNetwork } from '../../dataplanes/ebpf/maps/pod-network.ts';
import { type RenderedPlace, renderedEntries } from '../../dataplanes/ebpf/render.ts';
import type { Forwarding } from '../../forwarding/model.ts';
import { type Page, pagesOf } from './page.ts';

type DesiredRows = Desired & { readonly rows: readonly Forwarding[] };
type IsWanted = (row: Forwarding) => boolean;

export const EBPF_MODES = ['socket-ebpf', 'tc-ebpf'] as const;

type EbpfMode = (typeof EBPF_MODES)[number];

const HOOKS_OF: Readonly<Record<EbpfMode, string>> = {
  'socket-ebpf': 'socket hooks',
  'tc-ebpf': 'packet hooks',
};

export function socketPagesOf(desired: DesiredRows, isWanted: IsWanted): Page[] {
  return hookPagesOf('socket-ebpf', desired, isWanted);
}

export function packetPagesOf(desired: DesiredRows, isWanted: IsWanted): Page[] {
  return hookPagesOf('tc-ebpf', desired, isWanted);
}

function placeOf(mode: EbpfMode, facts: NodeFacts): RenderedPlace {
  const { podNetworks = [], clientInterfaces } = facts;
  const ownAddresses = new Set(facts.ownAddresses);
  // Whose socket another one is, no hook knows; whose packet, the interface tells.
  if (mode === 'socket-ebpf') {
    const onlyOwnSockets = clientInterfaces !== undefined;
    return { podsMet: 'at sockets', onlyOwnSockets, ownAddresses };
  }
  const onlyOwnSockets = clientInterfaces?.length === 0;
  const podNetwork = new PodNetwork(podNetworks);
  return { podsMet: 'as packets', podNetwork, onlyOwnSockets, ownAddresses };
}

/** What the rules behind have, with the entries of the hooks in front. */
function hookPagesOf(mode: EbpfMode, desired: DesiredRows, isWanted: IsWanted): Page[] {
  const place = placeOf(mode, desired.facts);
  return pagesOf(desired, isWanted).map((page) => ({
    ...page,
    table: `${page.table}, ${page.forwarding.onlyPackets ? 'without' : 'behind'} ${HOOKS_OF[mode]}`,
    frontends: page.frontends.map(({ frontend, elements = [], path }) => ({
      frontend,
      elements: [
        ...renderedEntries(page.forwarding, frontend, place).map(({ map, text, does }) => ({
          kind: 'ebpf' as const,
          set: map,
          text,
          ...(does === '' ? {} : { does }),
        })),
        ...elements,
      ],
      path: page.forwarding.onlyPackets ? path : [HOOKS_OF[mode], ...path],
    })),
  }));
}

/** The entries alone, a line each. */
export function rawEntries(mode: EbpfMode, { facts, rows }: DesiredRows): string {
  const place = placeOf(mode, facts);
  const lines = rows.flatMap((row) => {
    const entries = row.frontends.flatMap((frontend) => renderedEntries(row, frontend, place));
    const unique = new Map(entries.map((entry) => [`${entry.map} ${entry.text}`, entry]));
    return [...unique.values()].map(({ map, text, does }) => {
      return `ebpf ${map} { ${text} }${does === '' ? '' : `  # ${does}`}`;
    });
  });
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
