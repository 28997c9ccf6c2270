import { readFileSync } from 'node:fs';
import type { Daemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';

const DEADLINE_MS = 300_000;

/** Resolves when the process has written the word. Throws if it ends before. */
export async function says(daemon: Daemon, word: string): Promise<void> {
  const log = () => readFileSync(daemon.logFile, 'utf8');
  await until(
    () => {
      if (daemon.ended() !== undefined) throw new Error(`${daemon.name} ended: ${log()}`);
      return log().includes(word);
    },
    { what: () => `${daemon.name}: ${log()}`, deadlineMs: DEADLINE_MS },
  );
}
