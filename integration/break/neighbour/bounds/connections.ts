import { ForwarderLink } from '../../../../src/wings/userspace/plane/forwarder-link.ts';
import type { Answers } from '../../../../src/wings/userspace/plane/forwarder-protocol.ts';
import { currentSockets } from '../../../../src/wings/userspace/plane/run-files.ts';
import { ClientPorts } from '../../faults/plane/connections.ts';
import { HeldConnections } from '../../faults/plane/held-connections.ts';
import { ONE_PORT, SLICE_PORTS } from '../hostile/attack.ts';
import { NODE, SERVICE_PORT } from '../names.ts';
import type { Bound } from './bound.ts';
import type { Filled } from './filled.ts';
import { IdleConnections } from './idle-connections.ts';
import type { Tenant } from './tenant.ts';

const SERVICE = 'crowd';
const ASK_MS = 5_000;
/** Short of what makes the kernel take new ones. */
const HELD_FIRST = 0.85;
/** At once, so that the rest of the room is gone before the agent learns of it. */
const BURST = 0.35;
/** From here on the kernel takes new ones. */
const NEARLY_FULL = 0.9;

/** Connections that stay open take two descriptors each; the agent runs with few, so that this is cheap. */
export const CONNECTIONS: Bound = {
  name: 'connections',
  limit: 'nofile/2',
  modes: ['userspace'],
  fill,
  told: /forwarder.*(full|connections)/,
  movesAffinityIn: ['userspace'],
};

async function fill(tenant: Tenant): Promise<Filled> {
  const address = await tenant.service(SERVICE, { ports: ONE_PORT });
  const conditions = { ready: true, serving: true, terminating: false };
  const endpoint = {
    addresses: [tenant.scene.hostilePod.address.ipv4],
    nodeName: NODE,
    conditions,
  };
  await tenant.slices(SERVICE, [
    { addressType: 'IPv4', endpoints: [endpoint], ports: SLICE_PORTS },
  ]);
  await tenant.served(1);
  const { mostConnections } = await pulse(tenant);
  const to = { address, port: SERVICE_PORT };
  const held = new HeldConnections({ ...tenant.from, ...to }, new ClientPorts());
  await held.open(Math.floor(mostConnections * HELD_FIRST));
  const burst = new IdleConnections();
  await burst.dial(tenant.from, to, Math.floor(mostConnections * BURST));
  const { openConnections } = await pulse(tenant);
  return {
    to: openConnections.toLocaleString('en'),
    ...(openConnections >= mostConnections * NEARLY_FULL ? {} : { notFull: 'it took too few' }),
    release: () => {
      held[Symbol.dispose]();
      burst[Symbol.dispose]();
    },
  };
}

async function pulse({ scene }: Tenant): Promise<Answers['pulse']> {
  const link = await ForwarderLink.open(currentSockets(scene.runFolder).control, ASK_MS);
  try {
    return await link.ask({ do: 'pulse' }, ASK_MS);
  } finally {
    link.close();
  }
}
