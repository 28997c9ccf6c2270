import type { Desired } from '../../dataplanes/contract.ts';
import { renderedEntries } from '../../dataplanes/ebpf/render.ts';
import type { Forwarding } from '../../forwarding/model.ts';
import { type Page, pagesOf } from './page.ts';

/** What the rules behind have, with the entries of the hooks in front. */
export function socketPagesOf(
  desired: Desired & { readonly rows: readonly Forwarding[] },
  isWanted: (row: Forwarding) => boolean,
): Page[] {
  return pagesOf(desired, isWanted).map((page) => ({
    ...page,
    table: `${page.table}, behind socket hooks`,
    frontends: page.frontends.map(({ frontend, elements = [], path }) => ({
      frontend,
      elements: [
        ...renderedEntries(page.forwarding, frontend).map(({ map, text, does }) => ({
          kind: 'ebpf' as const,
          set: map,
          text,
          ...(does === '' ? {} : { does }),
        })),
        ...elements,
      ],
      path: ['socket hooks', ...path],
    })),
  }));
}

/** The entries alone, a line each. */
export function rawEntries(rows: readonly Forwarding[]): string {
  const lines = rows.flatMap((row) => {
    const entries = row.frontends.flatMap((frontend) => renderedEntries(row, frontend));
    const unique = new Map(entries.map((entry) => [`${entry.map} ${entry.text}`, entry]));
    return [...unique.values()].map(({ map, text, does }) => {
      return `ebpf ${map} { ${text} }${does === '' ? '' : `  # ${does}`}`;
    });
  });
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
