import { BRIDGE } from '../../../lab/outside/hosts.ts';
import type { KnownDifference, OutsideSetup, Setup } from '../../scenario.ts';
import { on, silent } from '../../words.ts';

/** The network between the nodes makes no difference to the machine. */
export const OUTSIDE: Setup = { outside: {}, network: 'plain' };
export const OUTSIDE_ALONE: Setup = { ...OUTSIDE, alone: true };

export function outsideWith(outside: OutsideSetup): Setup {
  return { ...OUTSIDE, outside };
}

/** Two settings that do not meet, with one start of the agent. */
export const IN_A_ZONE_WITH_CLIENTS = outsideWith({ clients: [BRIDGE], zone: 'zone-b' });

export const TWO = { a: on(1), b: on(2) };

/** What proxies do that have no rule for the whole Service range. */
export const LEAVES: KnownDifference = {
  expect: silent,
  escapes: true,
  reason:
    'the rules do not cover the service range, so packets leave the machine by the default route',
};
