import type { Logger } from 'pino';
import { type Random, retryDelayMs } from '../../agent/retry.ts';
import type { Clock } from '../../cluster/clock.ts';
import type { Mode } from '../../config/modes.ts';
import { PLANE_PARTS, type PlanePart, partsOfMode } from './plane.ts';
import { type RemovablePlane, removePlane } from './remove-plane.ts';

const LONGEST_AWAY_MS = 60_000;

interface OtherModesOptions {
  /** What is written by this one stays. */
  readonly mode: Mode;
  /** Called once for each part: a plane keeps its way to the kernel. */
  readonly open: (part: PlanePart) => RemovablePlane;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Called for each attempt in vain. */
  readonly onFailed?: () => void;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Takes away what another mode has left, kube-proxy's included; call it when this one is complete.
 * Connections that stand are translated by connection tracking, or have their endpoint in the
 * socket, and notice nothing. What cannot be taken away now, because of a lock for instance, is
 * tried again: nobody keeps those rules up to date, and packets may meet them first.
 */
export async function removeOtherModes(
  options: OtherModesOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random } = options;
  const own = partsOfMode(options.mode);
  const left = PLANE_PARTS.filter((part) => !own.includes(part)).map(
    (part): Leftover => ({ part, plane: options.open(part), reason: undefined }),
  );
  for (let attempts = 1; ; attempts++) {
    for (const leftover of [...left]) {
      if (signal.aborted) return;
      leftover.reason = await reasonToStay(leftover, options.log);
      if (leftover.reason !== undefined) options.onFailed?.();
      else left.splice(left.indexOf(leftover), 1);
    }
    if (left.length === 0) return;
    await clock.sleep(retryDelayMs(attempts, { mostMs: LONGEST_AWAY_MS, random }), signal);
  }
}

interface Leftover {
  readonly part: PlanePart;
  readonly plane: RemovablePlane;
  /** Why it is still there, as it was told last. */
  reason: string | undefined;
}

/** Undefined: it is gone. */
async function reasonToStay(
  { part, plane, reason: toldReason }: Leftover,
  log: OtherModesOptions['log'],
): Promise<string | undefined> {
  try {
    const frontends = (await removePlane(plane))?.length ?? 0;
    const isNews = frontends > 0 || toldReason !== undefined;
    if (isNews) log.info({ part, frontends }, 'removed what a mode had left');
    return undefined;
  } catch (error) {
    // What else is there does not keep this mode from working.
    const reason = String(error);
    if (reason !== toldReason) {
      log.warn(`what is left of ${part} could not be removed, retrying: ${reason}`);
    }
    return reason;
  }
}
