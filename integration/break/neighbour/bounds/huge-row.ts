import { MOST_IN_SLICE, ONE_PORT, SLICE_PORTS } from '../hostile/attack.ts';
import { NODE } from '../names.ts';
import type { Bound } from './bound.ts';
import type { Filled } from './filled.ts';
import type { Tenant } from './tenant.ts';

const SERVICE = 'huge';
const SLICES = 180;
const LAST_BITS = 4_096;

/** Larger than any message between processes, as its endpoints are in the list of the cluster and of the node. */
export const HUGE_ROW: Bound = {
  name: 'huge row',
  limit: 'message',
  modes: ['userspace'],
  fill,
};

async function fill(tenant: Tenant): Promise<Filled> {
  await tenant.service(SERVICE, {
    type: 'NodePort',
    ipFamilies: ['IPv6'],
    ipFamilyPolicy: 'SingleStack',
    externalTrafficPolicy: 'Local',
    ports: ONE_PORT,
  });
  const slices = Array.from({ length: SLICES }, (_, index) => ({
    addressType: 'IPv6',
    ports: SLICE_PORTS,
    endpoints: Array.from({ length: MOST_IN_SLICE }, (_, at) => ({
      addresses: [longAddress(index * MOST_IN_SLICE + at)],
      nodeName: NODE,
      conditions: { ready: true, serving: true, terminating: false },
    })),
  }));
  await tenant.slices(SERVICE, slices);
  const served = await tenant.served(SLICES * MOST_IN_SLICE);
  return { ...served, to: (SLICES * MOST_IN_SLICE).toLocaleString('en'), release: () => undefined };
}

/** In a network that no node has, and as long in text as an address can be. */
function longAddress(serial: number): string {
  const [high, low] = [0x1000 + Math.floor(serial / LAST_BITS), 0x1000 + (serial % LAST_BITS)];
  return `fd00:1280:1234:5678:9abc:def0:${high.toString(16)}:${low.toString(16)}`;
}
