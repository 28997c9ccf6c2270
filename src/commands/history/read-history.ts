import { datesBy } from '../../agent/dates.ts';
import {
  type DatedEntry,
  dated,
  type HistoryPage,
  type HistoryRequest,
} from '../../agent/history/history-page.ts';
import { pastEntries, readSavedHistory } from '../../agent/history/saved-history.ts';
import { readHistory, type StatusRequest } from '../../agent/servers/status-client.ts';
import { systemClock } from '../../time/clock.ts';

/** What the last run of the agent has saved, for where none answers. */
export function savedEntries(
  { service, withinMs = Number.POSITIVE_INFINITY }: HistoryRequest,
  path: string,
): readonly DatedEntry[] {
  const nowMs = systemClock.monotonicMs();
  const about = { nowMs, dateOf: datesBy(systemClock) };
  return pastEntries(readSavedHistory(path), systemClock)
    .map((entry, index) => dated({ ...entry, seq: index + 1, weight: 0 }, about))
    .filter((each) => service === undefined || each.service === service || each.service === '')
    .filter(({ ageMs }) => ageMs <= withinMs);
}

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
