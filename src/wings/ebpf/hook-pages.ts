import type { Desired } from '../../dataplanes/contract.ts';
import type { Forwarding } from '../../forwarding/model.ts';
import { nftablesPages } from '../../modes/pages/nftables-pages.ts';
import type { Page } from '../../modes/pages/page.ts';
import { type RenderedPlace, renderedEntries } from './plane/render.ts';

export interface HooksToShow {
  /** As they are called in the path of a packet. */
  readonly hooks: string;
  readonly place: RenderedPlace;
}

/** The rules behind, with the entries of the hooks in front. */
export function hookPages(
  { hooks, place }: HooksToShow,
  desired: Desired,
  isWanted: (row: Forwarding) => boolean,
): Page[] {
  return nftablesPages(desired, isWanted).map((page) => ({
    ...page,
    table: `${page.table}, ${page.forwarding.onlyPackets ? 'without' : 'behind'} ${hooks}`,
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
      path: page.forwarding.onlyPackets ? path : [hooks, ...path],
    })),
  }));
}

/** Only the entries, one per line. */
export function rawEntries(place: RenderedPlace, rows: readonly Forwarding[]): string {
  const lines = rows.flatMap((row) => {
    const entries = row.frontends.flatMap((frontend) => renderedEntries(row, frontend, place));
    const unique = new Map(entries.map((entry) => [`${entry.map} ${entry.text}`, entry]));
    return [...unique.values()].map(({ map, text, does }) => {
      return `ebpf ${map} { ${text} }${does === '' ? '' : `  # ${does}`}`;
    });
  });
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
