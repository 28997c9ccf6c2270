import type { TranslatedFlow } from '../../flows/translated.ts';
import type { ServicePortKey } from '../../forwarding/model.ts';
import { type AddressBytes, addressText } from '../../linux/conntrack/address-bytes.ts';
import { STATUS_ASSURED, STATUS_SEEN_REPLY } from '../../linux/conntrack/conntrack-protocol.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';
import type { WireConnection } from '../../modes/copied-connections.ts';

interface AnyConnection {
  /** `namespace/name:port`. */
  readonly service: string;
  readonly protocol: string;
  readonly client: string;
  /** Service address, as the client used it. */
  readonly address: string;
  readonly endpoint: string;
}

/** A connection that the kernel translates. */
export interface Connection extends AnyConnection {
  /** TCP state, or whether other protocols saw a reply. */
  readonly state: string;
  /** Time until the conntrack entry expires without packets. */
  readonly expiresInSeconds: number;
  /** Age, if the kernel records timestamps. */
  readonly ageSeconds?: number;
}

/** A connection that a forwarder splits in two, and copies. */
export interface CopiedConnection extends AnyConnection {
  /** The forwarder's end towards the endpoint; empty while it is dialling. */
  readonly source: string;
  readonly state: WireConnection['state'];
  readonly ageSeconds: number;
  readonly bytesToEndpoint: number;
  readonly bytesToClient: number;
}

const PROTOCOLS: Readonly<Record<number, string>> = { 6: 'TCP', 17: 'UDP', 132: 'SCTP' };

/** As `conntrack -L` calls them, by their numbers. */
const TCP_STATES = [
  'NONE',
  'SYN_SENT',
  'SYN_RECV',
  'ESTABLISHED',
  'FIN_WAIT',
  'CLOSE_WAIT',
  'LAST_ACK',
  'TIME_WAIT',
  'CLOSE',
  'SYN_SENT2',
];

export function connectionOf({ service, flow }: TranslatedFlow, nowMs: number): Connection {
  const { original, reply, protocol, timeoutSeconds, startedAtMs } = flow;
  const ageMs = startedAtMs === undefined ? undefined : Math.max(0, nowMs - startedAtMs);
  return {
    service,
    protocol: PROTOCOLS[protocol] ?? String(protocol),
    client: placeText(original.source, original.sourcePort),
    address: placeText(original.destination, original.destinationPort),
    endpoint: placeText(reply.source, reply.sourcePort),
    state: stateText(flow),
    expiresInSeconds: timeoutSeconds,
    ...(ageMs === undefined ? {} : { ageSeconds: Math.round(ageMs / 1000) }),
  };
}

export function copiedConnectionOf(wire: WireConnection): CopiedConnection {
  const { row, client, frontend, source, endpoint, state, ageMs } = wire;
  return {
    service: serviceOf(row),
    protocol: 'TCP',
    client: wirePlace(client),
    address: wirePlace(frontend),
    source: wirePlace(source),
    endpoint: wirePlace(endpoint),
    state,
    ageSeconds: Math.round(ageMs / 1000),
    bytesToEndpoint: wire.bytesToEndpoint,
    bytesToClient: wire.bytesToClient,
  };
}

/** Without the protocol and the family. */
function serviceOf(row: ServicePortKey): string {
  return row.split('/').slice(0, 2).join('/');
}

/** Written as `address port`; empty where there is none. */
function wirePlace(text: string): string {
  const [address = '', port = ''] = text.split(' ');
  return address === '' ? '' : hostPort(address, port);
}

function stateText({ tcpState, status }: Flow): string {
  if (tcpState !== undefined) return TCP_STATES[tcpState] ?? `state ${tcpState}`;
  if ((status & STATUS_ASSURED) !== 0) return 'ASSURED';
  return (status & STATUS_SEEN_REPLY) === 0 ? 'UNREPLIED' : 'REPLIED';
}

function placeText(address: AddressBytes, port: number): string {
  return hostPort(addressText(address), String(port));
}

function hostPort(address: string, port: string): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
