import type { TranslatedFlow } from '../../flows/translated.ts';
import { type AddressBytes, addressText } from '../../linux/conntrack/address-bytes.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';
import { STATUS_ASSURED, STATUS_SEEN_REPLY } from '../../linux/conntrack/protocol.ts';

/** One translated connection. */
export interface Connection {
  /** `namespace/name:port`. */
  readonly service: string;
  readonly protocol: string;
  readonly client: string;
  /** Service address, as the client used it. */
  readonly address: string;
  readonly endpoint: string;
  /** TCP state, or whether other protocols saw a reply. */
  readonly state: string;
  /** Time until the conntrack entry expires without packets. */
  readonly expiresInSeconds: number;
  /** Age, if the kernel records timestamps. */
  readonly ageSeconds?: number;
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

function stateText({ tcpState, status }: Flow): string {
  if (tcpState !== undefined) return TCP_STATES[tcpState] ?? `state ${tcpState}`;
  if ((status & STATUS_ASSURED) !== 0) return 'ASSURED';
  return (status & STATUS_SEEN_REPLY) === 0 ? 'UNREPLIED' : 'REPLIED';
}

function placeText(address: AddressBytes, port: number): string {
  const text = addressText(address);
  return text.includes(':') ? `[${text}]:${port}` : `${text}:${port}`;
}
