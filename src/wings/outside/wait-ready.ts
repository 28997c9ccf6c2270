import { ServerError } from '../../agent/servers/server-error.ts';
import { readStatus } from '../../agent/servers/status-client.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import { CommandError } from '../../commands/command-error.ts';
import { isWell } from '../../commands/status/summary.ts';
import type { Clock } from '../../time/clock.ts';

export interface WaitOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly deadlineMs: number;
  /** The start of the process before: an answer of that one does not count. */
  readonly notStartedAtMs: number | undefined;
  readonly onProgress: (text: string) => void;
}

const POLL_MS = 200;

/** The status of the agent when every Service is in the kernel. Throws CommandError when it is late. */
export async function untilReady(options: WaitOptions, signal: AbortSignal): Promise<StatusPage> {
  const { clock, deadlineMs, onProgress } = options;
  const endMs = clock.monotonicMs() + deadlineMs;
  let told = '';
  for (;;) {
    const page = await statusOrNothing();
    const isOld = page !== undefined && page.startedAtMs === options.notStartedAtMs;
    if (page !== undefined && !isOld && isWell(page)) return page;
    const state = page === undefined || isOld ? 'it does not answer yet' : whyNotReady(page);
    if (state !== told) onProgress(`starting Fairlead: ${state}`);
    told = state;
    if (clock.monotonicMs() >= endMs || signal.aborted) throw late(deadlineMs, state);
    await clock.sleep(POLL_MS, signal);
  }
}

/** Undefined: no agent answers. */
export async function statusOrNothing(): Promise<StatusPage | undefined> {
  try {
    return (await readStatus()) as StatusPage;
  } catch (error) {
    if (error instanceof ServerError) return undefined;
    throw error;
  }
}

/** The first condition that fails, in words. */
export function whyNotReady({ conditions }: Pick<StatusPage, 'conditions'>): string {
  const failing = [conditions.listed, conditions.firstSync, conditions.synced];
  return failing.find(({ isTrue }) => !isTrue)?.why ?? 'it is not ready';
}

function late(deadlineMs: number, state: string): CommandError {
  return new CommandError(`Fairlead is not ready after ${deadlineMs / 1000} s: ${state}`, {
    code: 'OUTSIDE_NOT_READY',
    next: '`fairlead status` and `journalctl -u fairlead -n 20` say why; it keeps trying, and everything is written',
  });
}
