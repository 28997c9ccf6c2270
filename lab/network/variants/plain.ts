import { nodeAddress, podCidr } from '../plan.ts';
import { routesVia } from '../routes.ts';
import type { NetworkVariant } from './contract.ts';

/** Nodes route to each other's pods over the LAN, and filter nothing. */
export const plain: NetworkVariant = {
  name: 'plain',
  description: 'one LAN, routes to the pods of other nodes, no firewall',
  nodeLines: (_index, others) => routesToPods(others),
};

export function routesToPods(others: readonly number[]): string[] {
  return others.flatMap((other) => routesVia(podCidr(other), nodeAddress(other)));
}
