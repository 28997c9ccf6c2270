import type { DatedEntry, HistoryPage, HistoryRequest } from '../../agent/history/history-page.ts';
import { readHistory, type StatusRequest } from '../../agent/servers/status-client.ts';

/** The first page's facts with the entries of all pages. */
export async function readWholeHistory(
  wanted: HistoryRequest,
  request: StatusRequest,
): Promise<HistoryPage> {
  const first = await readHistory(wanted, request);
  const entries: DatedEntry[] = [...first.entries];
  let page = first;
  while (page.hasMore) {
    const afterSeq = entries.at(-1)?.seq ?? 0;
    page = await readHistory({ ...wanted, afterSeq }, request);
    // Another agent: its entries are another history.
    if (page.run !== first.run) break;
    for (const entry of page.entries) entries.push(entry);
  }
  return { ...first, entries, hasMore: false };
}
