import type { MachineLink } from './link-codec.ts';
import { linksQuestion, RTNLGRP_LINK } from './protocol.ts';
import { type WatchOptions, watchTables } from './watch-tables.ts';

/** Reports all links in the order of their indexes, and the full list again after each change. */
export async function watchLinks(
  onChange: (links: readonly MachineLink[]) => void,
  signal: AbortSignal,
  options?: WatchOptions,
): Promise<void> {
  await watchTables(
    {
      groups: [RTNLGRP_LINK],
      questions: [linksQuestion],
      rows: ({ links }) => [...links.values()].sort((a, b) => a.index - b.index),
      onChange,
    },
    signal,
    options,
  );
}
