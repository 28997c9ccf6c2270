import { endpoints, externalIps } from '../hostile/attack.ts';
import type { Bound } from './bound.ts';
import type { Filled } from './filled.ts';
import type { Tenant } from './tenant.ts';

const PORTS = 1_000;
const FIRST_PORT = 1_000;
/** With the ClusterIP ten virtual servers for each port: some 8,000 with a table fit into the share of one. */
const ADDRESSES = 9;
const SERVICE = 'tables';
const SCHEDULER = { 'fairlead.dev/ipvs-scheduler': 'mh' };

/** Each port of a Service has a virtual server at each of its addresses, and each a table of 32 KiB. */
export const VIRTUAL_SERVERS: Bound = {
  name: 'virtual servers',
  limit: '1,048,576',
  modes: ['ipvs'],
  fill,
  told: /no room for[^!]*hostile/,
};

async function fill(tenant: Tenant): Promise<Filled> {
  const numbers = Array.from({ length: PORTS }, (_, index) => FIRST_PORT + index);
  const ports = numbers.map((port) => ({ name: `p${port}`, protocol: 'TCP', port }));
  const externalIPs = externalIps(ADDRESSES);
  const spec = { externalIPs, ports: ports.map((port) => ({ ...port, targetPort: port.port })) };
  await tenant.service(SERVICE, spec, SCHEDULER);
  const list = endpoints({ block: 0, count: 1, from: 0 });
  await tenant.slices(SERVICE, [{ addressType: 'IPv4', endpoints: list, ports }]);
  const served = await tenant.served(PORTS);
  const to = `${(PORTS * (ADDRESSES + 1)).toLocaleString('en')} with a table`;
  return { ...served, to, release: () => undefined };
}
