import { setTimeout as delay } from 'node:timers/promises';
import type { Source } from '../../cluster/source.ts';
import { CommandError } from '../command-error.ts';
import { printNote } from '../terminal/print.ts';
import { FailFastSource } from './fail-fast-source.ts';

const SPEAK_AFTER_MS = 2_000;
const GIVE_UP_AFTER_MS = 60_000;

/** Waits for the initial list; prints the state when it takes long, and fails on timeout. */
export async function waitForSource(work: Promise<void>, source: Source): Promise<void> {
  const over = new AbortController();
  const after = <T>(ms: number, then: () => T): Promise<T> =>
    delay(ms, undefined, { signal: over.signal }).then(then);
  const speaking = after(SPEAK_AFTER_MS, () => printNote(`waiting for ${stateOf(source)}`));
  const givingUp = after(GIVE_UP_AFTER_MS, () => {
    throw new CommandError(
      `the initial list of the cluster was not complete within ${GIVE_UP_AFTER_MS / 1000} s`,
      {
        code: 'SOURCE_INCOMPLETE',
        next: `check the connection to the API server: ${stateOf(source)}`,
      },
    );
  });
  // Both reject with an AbortError when the work is done.
  speaking.catch(() => undefined);
  givingUp.catch(() => undefined);
  try {
    const futile = source instanceof FailFastSource ? [source.failed] : [];
    await Promise.race([work, givingUp, ...futile]);
  } finally {
    over.abort();
  }
}

function stateOf(source: Source): string {
  const states = Map.groupBy(source.health(), ({ connected, lastError }) => {
    return lastError ?? (connected ? 'connected' : 'not connected');
  });
  const texts = [...states].map(([state, kinds]) => {
    return `${kinds.map(({ kind }) => kind).join(', ')}: ${state}`;
  });
  return texts.length === 0 ? 'the source' : texts.join('; ');
}
