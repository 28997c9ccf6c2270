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

/** Of the Service range in each family: the addresses that are reserved for explicit requests. */
const RESERVED_BITS = 9;
const SERVICE_BITS = 20;

/** The lab's Service ranges without their reserved ends, where `fixedClusterIPs` are. */
function unreservedRanges(): string[] {
  const bits = Array.from({ length: SERVICE_BITS - RESERVED_BITS }, (_, i) => RESERVED_BITS + i);
  return bits.flatMap((each) => {
    const first = 2 ** each;
    const [high, low] = [first >> 16, first & 0xffff];
    return [
      `10.${96 + high}.${low >> 8}.0/${32 - each}`,
      `fd00:96::${high.toString(16)}:${low.toString(16)}/${128 - each}`,
    ];
  });
}

export const WITHOUT_FIXED_CLUSTER_IPS = outsideWith({ serviceRanges: unreservedRanges() });
