import type { EndpointList, ServicePortKey } from '../../../../forwarding/model.ts';
import type { HeldListener, WireEndpoint, WireEndpointCount } from '../forwarder-protocol.ts';
import type { MovedPair } from './thread-messages.ts';

/**
 * What goes over the handover socket (SOCK_SEQPACKET): one JSON message in a packet, with descriptors
 * where it names sockets.
 *
 *   agent:  {ask: listeners}                      forwarder:  {listeners}, with their descriptors
 *   new:    {ask: pairs}                          old:        {affinity}…, {pairs}…, {affinity}…, {counts}…, {end}
 *           {taken: true}                                     {yours: true}
 *                                                             {counts}… of its last connections, when it ends
 *
 * The old one goes on with its pairs unless it reads `taken`, and never after `yours`; the new one does
 * not touch them before `yours`. So no byte is read twice, whichever of them is late.
 */
export type HandoverAsk =
  | { readonly ask: 'listeners' }
  | { readonly ask: 'pairs' }
  | { readonly taken: true };

export type HandoverTell =
  | { readonly listeners: readonly Omit<HeldListener, 'fd'>[] }
  | { readonly pairs: readonly WirePair[] }
  | { readonly affinity: readonly WireAffinity[] }
  | { readonly counts: HandedCounts }
  | { readonly end: true }
  | { readonly yours: true };

/** Its descriptors are in the packet: client, endpoint, client, endpoint, … */
export interface WirePair extends Omit<MovedPair, 'clientFd' | 'endpointFd' | 'slot'> {
  readonly row: ServicePortKey;
  readonly endpoint: WireEndpoint;
}

export type WireAffinity = readonly [
  row: ServicePortKey,
  list: EndpointList,
  client: string,
  endpoint: WireEndpoint,
  renewedAtMs: number,
];

export interface HandedCounts {
  /** `open` and `avoidedMs` mean nothing here. */
  readonly endpoints: readonly WireEndpointCount[];
  readonly accepted: number;
  readonly failed: number;
  readonly unknownFrontend: number;
}

export const TOTALS = ['accepted', 'failed', 'unknownFrontend'] as const;

export const PAIRS_PER_PACKET = 100;
export const ENTRIES_PER_PACKET = 250;
