import { setTimeout as pause } from 'node:timers/promises';
import { LabError } from '../../lab/host/errors.ts';
import { abortable } from '../../lab/host/interruption.ts';
import { cpuSecondsOf } from '../control/process-figures.ts';

const LOOK_EVERY_MS = 1_000;
/** In one look; a control plane with timers and telemetry is not below it. */
const IDLE_SECONDS = 0.03;
/** One after the other: a start has pauses while it waits for the API server. */
const IDLE_LOOKS = 3;

/** Waits until the process and its children use next to no CPU, and gives what they have used so far. */
export async function untilIdle(
  pid: number,
  of: { readonly deadlineMs: number; readonly signal: AbortSignal },
): Promise<number> {
  const giveUpAtMs = performance.now() + of.deadlineMs;
  let used = await cpuSecondsOf(pid);
  let idleLooks = 0;
  while (idleLooks < IDLE_LOOKS) {
    if (performance.now() > giveUpAtMs) {
      throw new LabError('LAB_DEADLINE', `not idle after ${of.deadlineMs} ms`, {
        next: 'read its log in the folder of the lab',
      });
    }
    await abortable(pause(LOOK_EVERY_MS), of.signal);
    const now = await cpuSecondsOf(pid);
    idleLooks = now - used < IDLE_SECONDS ? idleLooks + 1 : 0;
    used = now;
  }
  return used;
}
