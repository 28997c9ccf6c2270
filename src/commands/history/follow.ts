import type { DatedEntry, HistoryPage } from '../../agent/history/history-page.ts';
import { ServerError } from '../../agent/servers/server-error.ts';
import { readHistory, type StatusRequest } from '../../agent/servers/status-client.ts';
import type { Clock } from '../../time/clock.ts';
import { dayOf } from './history-text.ts';

export interface Following {
  readonly request: StatusRequest;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly service?: string;
  /** What was printed last. */
  readonly after: { readonly run: string; readonly seq: number };
  /** `dayBefore`: of the entry before them; undefined: they are the first. */
  readonly onEntries: (entries: readonly DatedEntry[], dayBefore: string | undefined) => void;
  readonly onNote: (note: string) => void;
}

const POLL_MS = 500;
/** So long an entry is held back until the kernel has it, to print it once and complete. */
const HELD_BACK_MS = 2_000;

/** Prints what comes, until the signal is aborted. Goes on when the agent is restarted. */
export async function followHistory(following: Following, signal: AbortSignal): Promise<void> {
  let { run, seq } = following.after;
  let day: string | undefined;
  let isAway = false;
  while (!signal.aborted) {
    await following.clock.sleep(POLL_MS, signal);
    const page = await nextPage(following, seq);
    if (page === undefined) {
      if (!isAway) following.onNote('the agent does not respond; retrying');
      isAway = true;
      continue;
    }
    isAway = false;
    if (page.run !== run) {
      following.onNote('the agent was restarted: what happened in between is not known');
      [run, seq] = [page.run, (page.startedSeq ?? 1) - 1];
      continue;
    }
    const ready = completeOnes(page.entries);
    const last = ready.at(-1);
    if (last === undefined) continue;
    following.onEntries(ready, day);
    [seq, day] = [last.seq, dayOf(last.atMs)];
  }
}

async function nextPage(following: Following, afterSeq: number): Promise<HistoryPage | undefined> {
  const { request, service } = following;
  try {
    return await readHistory({ afterSeq, ...(service === undefined ? {} : { service }) }, request);
  } catch (error) {
    if (error instanceof ServerError) return undefined;
    throw error;
  }
}

/** Up to the first that the kernel may still get soon. */
function completeOnes(entries: readonly DatedEntry[]): readonly DatedEntry[] {
  const first = entries.findIndex(
    ({ kernel, ageMs }) => kernel === 'waiting' && ageMs < HELD_BACK_MS,
  );
  return first < 0 ? entries : entries.slice(0, first);
}
