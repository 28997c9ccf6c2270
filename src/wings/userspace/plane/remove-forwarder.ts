import { rm } from 'node:fs/promises';
import type { ForwarderKeeper } from './keeper.ts';
import { currentSockets } from './run-files.ts';
import { ANSWER_MS, isSilent, type RunningForwarder } from './running.ts';

export interface Removal {
  readonly runFolder: string;
  /** How long open connections may go on. */
  readonly drain: Drain;
  /** Deletes the routes and the rule that a forwarder needs. */
  readonly removeRoutes: () => Promise<void>;
}

export interface Drain {
  readonly deadlineMs: number;
  /** Whether the removal lasts until the forwarder has ended; otherwise it ends by itself. */
  readonly isAwaited: boolean;
}

/** Ends the running forwarder, if there is one, and deletes what it leaves behind. */
export async function removeForwarder(keeper: ForwarderKeeper, removal: Removal): Promise<void> {
  const { drain, runFolder, removeRoutes } = removal;
  const running = await found(keeper, drain);
  if (running !== undefined) {
    const { deadlineMs } = drain;
    await running.work.ask<'drain'>({ do: 'drain', deadlineMs, final: true }, ANSWER_MS);
    // It deletes its routes and its sockets when it ends: its connections need them.
    if (!drain.isAwaited) return keeper.letGo();
    await endOf(running, deadlineMs);
    await keeper.kill();
  }
  keeper.letGo();
  const { control, handover } = currentSockets(runFolder);
  for (const path of [control, handover]) await rm(path, { force: true });
  await removeRoutes();
}

/** One that hangs cannot drain: it is killed where the removal does not last. */
async function found(keeper: ForwarderKeeper, drain: Drain): Promise<RunningForwarder | undefined> {
  try {
    return await keeper.find();
  } catch (error) {
    if (!isSilent(error) || !drain.isAwaited) throw error;
    await keeper.kill();
    return undefined;
  }
}

/** Resolves when the process has ended, or should have. */
export async function endOf({ work }: RunningForwarder, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadlineMs + ANSWER_MS);
  });
  await Promise.race([work.ended, late]);
  clearTimeout(timer);
}
