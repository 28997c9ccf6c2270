import { normalizeIp } from '../addresses/ip.ts';
import type { Destination, Found } from '../forwarding/answer/destination.ts';
import {
  type Family,
  type Forwarding,
  type Protocol,
  servicePortName,
} from '../forwarding/model.ts';
import { frontendName } from './explain-words.ts';
import { hasNoEndpoints } from './zero/other-family.ts';

/** What is asked for, as it is written on the command line. */
export type Target =
  | { readonly by: 'address'; readonly to: Destination }
  | {
      readonly by: 'service';
      /** `namespace/name`. */
      readonly service: string;
      /** Name or number. */
      readonly port?: string;
      readonly protocol?: Protocol;
    };

const PROTOCOLS: ReadonlyMap<string, Protocol> = new Map([
  ['tcp', 'TCP'],
  ['udp', 'UDP'],
  ['sctp', 'SCTP'],
]);
const LAST_PORT = 65_535;

/** Reads `namespace/name[:port][/udp]` or `ADDRESS:PORT[/udp]`; undefined: neither. */
export function parseTarget(text: string): Target | undefined {
  const { rest, protocol } = splitProtocol(text);
  const address = /^(?:\[([^\]]+)\]|([^:/]+)):(\d+)$/.exec(rest);
  const ip = normalizeIp(address?.[1] ?? address?.[2] ?? '');
  if (ip !== undefined) {
    const port = Number(address?.[3]);
    if (port < 1 || port > LAST_PORT) return undefined;
    return { by: 'address', to: { address: ip.address, port, protocol: protocol ?? 'TCP' } };
  }
  const named = /^(?:([^/:]+)\/)?([^/:]+)(?::([^/:]+))?$/.exec(rest);
  if (named === null) return undefined;
  const [, namespace = 'default', name, port] = named;
  return {
    by: 'service',
    service: `${namespace}/${name}`,
    ...(port === undefined ? {} : { port }),
    ...(protocol === undefined ? {} : { protocol }),
  };
}

/** `shop/udp` is a Service; `shop/web/udp` and `10.0.0.1:53/udp` name a protocol. */
function splitProtocol(text: string): { rest: string; protocol?: Protocol } {
  const slash = text.lastIndexOf('/');
  const rest = text.slice(0, slash);
  const protocol = PROTOCOLS.get(text.slice(slash + 1).toLowerCase());
  const isSuffix = rest.includes('/') || rest.includes(':');
  return protocol !== undefined && isSuffix ? { rest, protocol } : { rest: text };
}

/** A connection to a Service: where to, and at which frontend. */
export type ServiceGoal =
  | { readonly is: 'frontend'; readonly to: Destination; readonly at: Found }
  /** A port number that the Service does not have. */
  | { readonly is: 'undeclared'; readonly to: Destination }
  /** A port name that it does not have; the ones that it has. */
  | { readonly is: 'no such port'; readonly ports: readonly string[] };

/** The cluster IP of the port that is named, else of the first. `rows`: all of the Service. */
export function goalOf(
  target: Extract<Target, { by: 'service' }>,
  rows: readonly Forwarding[],
  family: Family | undefined,
): ServiceGoal {
  const { port, protocol } = target;
  const ofFamily = rows.filter(({ id }) => id.family === family);
  const usable = ofFamily.length > 0 ? ofFamily : rows;
  const wanted = usable.find((row) => isWanted(row, port, protocol));
  const frontend = wanted?.frontends[0];
  if (wanted !== undefined && frontend !== undefined) {
    const { address, port: number } = frontend;
    const to = { address, port: number, protocol: wanted.id.protocol };
    return { is: 'frontend', to, at: { row: wanted, frontend } };
  }
  const number = Number(port);
  const [first] = usable;
  const address = first?.frontends[0]?.address;
  if (Number.isInteger(number) && number >= 1 && number <= LAST_PORT && address !== undefined) {
    return { is: 'undeclared', to: { address, port: number, protocol: protocol ?? 'TCP' } };
  }
  return { is: 'no such port', ports: portsOf(usable) };
}

function isWanted(
  { id, frontends }: Forwarding,
  port: string | undefined,
  protocol: Protocol | undefined,
): boolean {
  if (protocol !== undefined && protocol !== id.protocol) return false;
  return port === undefined || id.port === port || String(frontends[0]?.port) === port;
}

/** `shop/web:http (10.96.0.10:80)` for each. */
export function portsOf(rows: readonly Forwarding[]): readonly string[] {
  return rows.map((row) => {
    const { id, frontends } = row;
    const [first] = frontends;
    const empty = hasNoEndpoints(row) ? ', no endpoints' : '';
    const where = first === undefined ? '' : ` (${frontendName(first, id.protocol)}${empty})`;
    return `${servicePortName(id)}${where}`;
  });
}
