import type { ServiceAnswer } from '../protocol/service-page.ts';
import { type Answered, ask } from './ask-server.ts';

/** The server measures a Service while it is asked for. */
const EVERY_MS = 2000;

/** Asks for a Service until the signal is aborted; a hidden page asks nothing. */
export async function pollService(
  name: string,
  take: (answer: Answered<ServiceAnswer>) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if (!document.hidden) {
      const answer = await ask<ServiceAnswer>('/data/service', { name }, signal);
      if (answer === undefined) return;
      take(answer);
    }
    await pause(EVERY_MS, signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
