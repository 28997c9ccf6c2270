import { macOf, type Neighbour, permanentNeighbours } from '../neighbours.ts';
import {
  type AddressPair,
  FAMILIES,
  type Family,
  LAN_PREFIX,
  nodeName,
  podCidr,
  SECOND_FABRIC,
  secondNodeAddress,
} from '../plan.ts';
import { routesVia } from '../routes.ts';
import type { NetworkVariant } from './contract.ts';

const BRIDGE = 'br1';
const UPLINK = 'eth1';

/**
 * Nodes have a second network, by which they reach each other's pods. The first keeps the default
 * route, the Node objects' addresses and the clients, so that what a node forwards comes in by one and
 * leaves by the other, and a client that asks at the second address is answered by the first.
 */
export const twoUplinks: NetworkVariant = {
  name: 'two-uplinks',
  description: 'nodes with two uplinks: clients and default route on one, pods on the other',
  fabricLines: (nodes) => [
    `link add ${BRIDGE} type bridge`,
    `link set ${BRIDGE} address ${macOf(SECOND_FABRIC)} up`,
    ...FAMILIES.map((family) => addressLine(SECOND_FABRIC, family, BRIDGE)),
    ...permanentNeighbours(
      BRIDGE,
      nodes.map(({ index }) => neighbour(index)),
    ),
    ...nodes.flatMap(({ index, namespace }) => [
      `link add ${nodeName(index)}b type veth peer name ${UPLINK} netns ${namespace}`,
      `link set ${nodeName(index)}b master ${BRIDGE} up`,
    ]),
  ],
  nodeLines: (index, others) => [
    `link set ${UPLINK} address ${macOf(secondNodeAddress(index))} up`,
    ...FAMILIES.map((family) => addressLine(secondNodeAddress(index), family, UPLINK)),
    ...permanentNeighbours(UPLINK, [
      { address: SECOND_FABRIC, mac: macOf(SECOND_FABRIC) },
      ...others.map(neighbour),
    ]),
    ...others.flatMap((other) => routesVia(podCidr(other), secondNodeAddress(other))),
  ],
  // Loose, as systemd sets it: a source must be reachable, not by the interface it came by.
  nodeSysctls: ['net.ipv4.conf.all.rp_filter=2', 'net.ipv4.conf.default.rp_filter=2'],
};

function neighbour(index: number): Neighbour {
  return { address: secondNodeAddress(index), mac: macOf(secondNodeAddress(index)) };
}

function addressLine(pair: AddressPair, family: Family, device: string): string {
  const nodad = family === 'ipv6' ? ' nodad' : '';
  return `addr add ${pair[family]}/${LAN_PREFIX[family]} dev ${device}${nodad}`;
}
