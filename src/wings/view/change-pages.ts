import type { DatedEntry, HistoryPage } from '../../agent/history/history-page.ts';
import type { ReadHistory } from './change-feed.ts';
import type { ChangesAnswer } from './protocol/changes-answer.ts';
import { changeOf } from './shown-change.ts';

export interface WantedChanges {
  /** Only what is older than this entry; undefined: the newest. */
  readonly before: number | undefined;
  readonly service: string | undefined;
  readonly most: number;
}

/** After every entry, in as many digits as a path may have. */
const AFTER_ALL = 1e15 - 1;

/**
 * The newest entries before one. The agent gives them oldest first, so a range of numbers is asked for,
 * and a longer one where entries were dropped or are of other Services.
 */
export async function changesBefore(
  read: ReadHistory,
  wanted: WantedChanges,
): Promise<ChangesAnswer> {
  const { service, most } = wanted;
  const about = await read({ ...withService(service), afterSeq: AFTER_ALL });
  const before = wanted.before ?? (about.lastSeq ?? 0) + 1;
  let span = most;
  let after = before;
  let entries: readonly DatedEntry[] = [];
  while (after > 0 && entries.length < most) {
    after = Math.max(0, before - 1 - span);
    entries = await readRange(read, { service, after, before, run: about.run });
    span *= 4;
  }
  const shown = entries.slice(-most);
  const oldest = shown[0];
  const hasMore = oldest !== undefined && (after > 0 || entries.length > shown.length);
  return {
    run: about.run,
    changes: shown.toReversed().map(changeOf),
    ...(hasMore ? { next: oldest.seq } : {}),
    begunAtMs: about.begunAtMs,
    completeSinceMs: about.completeSinceMs,
    droppedCount: about.droppedCount,
  };
}

interface Range {
  readonly service: string | undefined;
  readonly after: number;
  readonly before: number;
  /** Entries of another run are another history. */
  readonly run: string;
}

async function readRange(
  read: ReadHistory,
  { service, after, before, run }: Range,
): Promise<readonly DatedEntry[]> {
  const found: DatedEntry[] = [];
  let afterSeq = after;
  for (;;) {
    const page: HistoryPage = await read({ ...withService(service), afterSeq });
    if (page.run !== run) return found;
    for (const entry of page.entries) if (entry.seq < before) found.push(entry);
    const last = page.entries.at(-1)?.seq ?? before;
    if (!page.hasMore || last >= before) return found;
    afterSeq = last;
  }
}

function withService(service: string | undefined): { readonly service?: string } {
  return service === undefined ? {} : { service };
}
