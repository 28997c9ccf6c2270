import type { AddressCalls } from '../../../../../linux/sockets/address-calls.ts';
import type { WireConnection } from '../../forwarder-protocol.ts';
import { keyOfSocketAddress, keyOfText, keyText, portOfKey } from '../address-key.ts';
import type { ThreadConnection } from '../thread-messages.ts';
import { type Pair, STATE } from './pair.ts';

/** The first ones, with their addresses. */
export function listConnections(
  pairs: Iterable<Pair>,
  most: number,
  calls: AddressCalls,
): ThreadConnection[] {
  const first: ThreadConnection[] = [];
  if (most <= 0) return first;
  for (const pair of pairs) {
    first.push({ ...described(pair, calls), state: stateOf(pair) });
    if (first.length === most) break;
  }
  return first;
}

export function described(pair: Pair, calls: AddressCalls): Omit<ThreadConnection, 'state'> {
  return {
    slot: pair.slot,
    client: keyText(pair.client),
    frontend: keyText(pair.frontend),
    source: ownAddressText(pair, calls),
    openedAtMs: pair.openedAtMs,
    bytesToEndpoint: pair.toEndpoint.byteCount,
    bytesToClient: pair.toClient.byteCount,
  };
}

/** The forwarder's own end towards the endpoint; empty while it is dialling. */
function ownAddressText(pair: Pair, calls: AddressCalls): string {
  if (pair.ownAddress !== '' || pair.state !== STATE.open) return pair.ownAddress;
  if (calls.ownAddress(pair.endpointFd) < 0) return '';
  pair.ownAddress = keyText(keyOfSocketAddress(calls.address, pair.isIPv6));
  return pair.ownAddress;
}

function stateOf(pair: Pair): WireConnection['state'] {
  if (pair.state !== STATE.open) return 'dialling';
  if (pair.toEndpoint.hasEnded) return 'client-ended';
  return pair.toClient.hasEnded ? 'endpoint-ended' : 'open';
}

/** Those of the named connections that are among the pairs. */
export function findConnections(
  pairs: Iterable<Pair>,
  named: readonly Pick<WireConnection, 'client' | 'frontend'>[],
): Pair[] {
  const wanted = new Set(named.map(({ client, frontend }) => `${client} ${frontend}`));
  // Ports are compared first: formatting the addresses of every pair would cost more.
  const ports = new Set(named.map(({ client }) => portOfKey(keyOfText(client))));
  const found: Pair[] = [];
  for (const pair of pairs) {
    if (!ports.has(portOfKey(pair.client))) continue;
    if (wanted.has(`${keyText(pair.client)} ${keyText(pair.frontend)}`)) found.push(pair);
  }
  return found;
}
