import { endpoints, MOST_IN_SLICE } from '../hostile/attack.ts';
import type { Bound } from './bound.ts';
import type { Filled } from './filled.ts';
import type { Tenant } from './tenant.ts';

const LIMIT = 1_048_576;
const PORTS = Math.ceil(LIMIT / MOST_IN_SLICE);
const FIRST_PORT = 1_000;
const SERVICE = 'slots';

/** Every port of a Service has every endpoint of its slice: 100 KB of objects fill the memory of the forwarder. */
export const SLOTS: Bound = {
  name: 'slots',
  limit: LIMIT.toLocaleString('en'),
  modes: ['userspace'],
  fill,
  told: /no room for[^!]*hostile/,
};

async function fill(tenant: Tenant): Promise<Filled> {
  const numbers = Array.from({ length: PORTS }, (_, index) => FIRST_PORT + index);
  const ports = numbers.map((port) => ({ name: `p${port}`, protocol: 'TCP', port }));
  await tenant.service(SERVICE, {
    ports: ports.map((port) => ({ ...port, targetPort: port.port })),
  });
  const list = endpoints({ block: 0, count: MOST_IN_SLICE, from: 0 });
  await tenant.slices(SERVICE, [{ addressType: 'IPv4', endpoints: list, ports }]);
  const served = await tenant.served(PORTS * MOST_IN_SLICE);
  return {
    ...served,
    to: (PORTS * MOST_IN_SLICE).toLocaleString('en'),
    release: () => undefined,
  };
}
