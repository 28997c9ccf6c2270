import type { PlaneFault } from '../plane-fault.ts';
import { FROZEN_FAULT } from './frozen-fault.ts';
import { FULL_FAULT } from './full-fault.ts';
import { forwarderKilled } from './kill-fault.ts';
import { PORTS_FAULT } from './ports-fault.ts';
import { rollout } from './rollout-fault.ts';
import { type StreamsSize, streamsAcrossReplacements } from './streams-fault.ts';
import { UNREAD_FAULT } from './unread-fault.ts';

export interface ForwarderSizes extends StreamsSize {
  readonly forwarderKills: number;
  /** Endpoints that are replaced. */
  readonly rollout: number;
}

const FULL: ForwarderSizes = { streams: 10_000, replacements: 5, forwarderKills: 5, rollout: 40 };

/** What can happen to a process that connections go through. */
export function forwarderFaults(sizes: ForwarderSizes = FULL): readonly PlaneFault[] {
  return [
    forwarderKilled(sizes.forwarderKills),
    streamsAcrossReplacements(sizes),
    rollout(sizes.rollout),
    UNREAD_FAULT,
    FROZEN_FAULT,
    FULL_FAULT,
    PORTS_FAULT,
  ];
}
