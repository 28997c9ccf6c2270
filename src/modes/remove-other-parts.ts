import type { Logger } from 'pino';
import type { Clock } from '../time/clock.ts';
import { type Random, retryDelayMs } from '../time/retry-delay.ts';
import type { Mode } from './mode.ts';
import type { Part } from './part.ts';
import { type RemovablePlane, removePart } from './remove-part.ts';

const LONGEST_WAIT_MS = 60_000;

interface OtherPartsOptions {
  /** Its parts stay. */
  readonly mode: Mode;
  readonly parts: readonly Part[];
  /** Called once for each part: a plane keeps its connection to the kernel. */
  readonly open: (part: Part) => RemovablePlane;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Called for each failed attempt. */
  readonly onFailed?: () => void;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Removes what another mode has left, including kube-proxy; call it when this mode is complete.
 * Established connections are translated by connection tracking, or have their endpoint in the
 * socket, so they are not affected. A removal that fails, because of a lock for instance, is
 * retried: no process updates those rules, and packets may reach them first.
 */
export async function removeOtherParts(
  options: OtherPartsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { mode, parts, clock, random } = options;
  const own = new Set(mode.parts.map(({ name }) => name));
  const left = parts
    .filter(({ name }) => !own.has(name))
    .map((part): Leftover => ({ part, plane: options.open(part), reason: undefined }));
  for (let attempts = 1; ; attempts++) {
    for (const leftover of [...left]) {
      if (signal.aborted) return;
      leftover.reason = await tryToRemove(leftover, options.log);
      if (leftover.reason !== undefined) options.onFailed?.();
      else left.splice(left.indexOf(leftover), 1);
    }
    if (left.length === 0) return;
    await clock.sleep(retryDelayMs(attempts, { mostMs: LONGEST_WAIT_MS, random }), signal);
  }
}

interface Leftover {
  readonly part: Part;
  readonly plane: RemovablePlane;
  /** Why it is still there, as it was logged last. */
  reason: string | undefined;
}

/** Gives the reason of a failure; undefined: it is gone. */
async function tryToRemove(
  { part: { name: part }, plane, reason: loggedReason }: Leftover,
  log: OtherPartsOptions['log'],
): Promise<string | undefined> {
  try {
    const frontends = (await removePart(plane))?.length ?? 0;
    const isNews = frontends > 0 || loggedReason !== undefined;
    if (isNews) log.info({ part, frontends }, 'removed what another mode had left');
    return undefined;
  } catch (error) {
    // Leftovers do not keep this mode from working.
    const reason = String(error);
    if (reason !== loggedReason) {
      log.warn(`cannot remove what another mode has left (${part}); retrying: ${reason}`);
    }
    return reason;
  }
}
