import { ipBatch, namespaceName } from '../host/namespaces.ts';
import {
  type AddressPair,
  EXTERNAL_CIDR,
  FAMILIES,
  MACHINE,
  nodeName,
  outsiderAddress,
  SERVICE_CIDR,
} from '../network/plan.ts';
import { routesVia } from '../network/routes.ts';
import { nodeIndexes } from '../network/topology.ts';

/** The role of the container on the machine. */
export const CONTAINER = 'container';
/** As Docker names it. */
export const BRIDGE = 'docker0';

const CONTAINERS: AddressPair = { ipv4: '172.17.0.0/16', ipv6: 'fd00:17::/64' };
const CONTAINER_GATEWAY: AddressPair = { ipv4: '172.17.0.1', ipv6: 'fd00:17::1' };
export const CONTAINER_ADDRESS: AddressPair = { ipv4: '172.17.0.2', ipv6: 'fd00:17::2' };

/**
 * Gives the machine the surroundings of a Docker host: a container behind its bridge, and a neighbour
 * (`client`) that sends it everything for Services. It forwards already, as every host of the lab.
 */
export async function surroundMachine(lab: { name: string; nodeCount: number }): Promise<void> {
  const inLab = (role: string): string => namespaceName({ lab: lab.name, role });
  const machine = outsiderAddress(MACHINE);
  await ipBatch([`netns add ${inLab(CONTAINER)}`]);
  await ipBatch(bridgeLines(inLab(CONTAINER)), inLab(MACHINE));
  await ipBatch(containerLines(), inLab(CONTAINER));
  await ipBatch(
    [...routesVia(SERVICE_CIDR, machine), ...routesVia(EXTERNAL_CIDR, machine)],
    inLab('client'),
  );
  // Answers find back without masquerading, or a container that is served by mistake would not show.
  for (const index of nodeIndexes(lab)) {
    await ipBatch(routesVia(CONTAINERS, machine), inLab(nodeName(index)));
  }
  await ipBatch(routesVia(CONTAINERS, machine), inLab('fabric'));
}

function bridgeLines(container: string): string[] {
  return [
    `link add ${BRIDGE} type bridge`,
    `link set ${BRIDGE} up`,
    `addr add ${CONTAINER_GATEWAY.ipv4}/16 dev ${BRIDGE}`,
    `addr add ${CONTAINER_GATEWAY.ipv6}/64 dev ${BRIDGE} nodad`,
    `link add vethc type veth peer name eth0 netns ${container}`,
    `link set vethc master ${BRIDGE} up`,
  ];
}

function containerLines(): string[] {
  return [
    'link set lo up',
    'link set eth0 up',
    `addr add ${CONTAINER_ADDRESS.ipv4}/16 dev eth0`,
    `addr add ${CONTAINER_ADDRESS.ipv6}/64 dev eth0 nodad`,
    ...FAMILIES.map((family) => `route add default via ${CONTAINER_GATEWAY[family]}`),
  ];
}
