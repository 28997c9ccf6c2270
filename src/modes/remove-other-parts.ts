import type { Logger } from '../log/logger.ts';
import type { Clock } from '../time/clock.ts';
import { type Random, retryDelayMs } from '../time/retry-delay.ts';
import type { Mode } from './mode.ts';
import type { Part } from './part.ts';
import { type RemovablePlane, retirePart } from './remove-part.ts';

const LONGEST_WAIT_MS = 60_000;

export interface OtherPartsOptions {
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
 * socket, so they are not affected; a part that carries some itself is removed after the last. A removal that fails, because of a lock for instance, is
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
    .map(
      (part): Leftover => ({ part, plane: options.open(part), reason: undefined, frontends: 0 }),
    );
  for (let attempts = 1; ; attempts++) {
    for (const leftover of [...left]) {
      if (signal.aborted) return;
      const result = await tryToRemove(leftover, options.log);
      if (result === 'removed') left.splice(left.indexOf(leftover), 1);
      else if (result === 'failed') options.onFailed?.();
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
  /** Addresses that it translated when they were read first. */
  frontends: number;
}

async function tryToRemove(
  leftover: Leftover,
  log: OtherPartsOptions['log'],
): Promise<'removed' | 'draining' | 'failed'> {
  const { part, reason: loggedReason } = leftover;
  try {
    const { frontends, left } = await retirePart(leftover.plane);
    leftover.frontends = Math.max(leftover.frontends, frontends);
    const isNews = leftover.frontends > 0 || loggedReason !== undefined;
    leftover.reason = left === 'draining' ? 'draining' : undefined;
    const about = { part: part.name, frontends: leftover.frontends };
    if (left === 'removed' && isNews) log.info(about, 'removed what another mode had left');
    if (left === 'draining' && loggedReason !== 'draining') {
      log.info(about, 'connections of another mode go on; it is removed after the last');
    }
    return left;
  } catch (error) {
    // Leftovers do not keep this mode from working.
    const reason = String(error);
    if (reason !== loggedReason) {
      log.warn(`cannot remove what another mode has left (${part.name}); retrying: ${reason}`);
    }
    leftover.reason = reason;
    return 'failed';
  }
}
