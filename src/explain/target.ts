import { normalizeIp } from '../addresses/ip.ts';
import { familyOf } from '../forwarding/answer/connection-source.ts';
import type { Destination, Found } from '../forwarding/answer/destination.ts';
import {
  type Family,
  type Forwarding,
  type Frontend,
  type Protocol,
  type SourceClass,
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
export interface ServiceGoal {
  readonly to: Destination;
  readonly at: Found;
}

export type ServiceGoals =
  /** At least one. */
  | { readonly is: 'frontends'; readonly goals: readonly ServiceGoal[] }
  /** A port number that the Service does not have. */
  | { readonly is: 'undeclared'; readonly to: Destination }
  /** A port name that it does not have, or none at the address of `--at`; the ones that it has. */
  | { readonly is: 'no such port'; readonly ports: readonly string[] };

/** Who asks for a Service by its name. */
export interface NamingClient {
  readonly class: SourceClass;
  /** Undefined: it has addresses of both, or they are not known. */
  readonly family: Family | undefined;
  /** Where a packet to a node port can be sent. */
  readonly nodeIPs: readonly string[];
}

/**
 * Every address that the client could use. The name of a Service is its cluster IP for pods and nodes;
 * clients outside use the other addresses. `at`: these addresses only. `rows`: all of the Service.
 */
export function goalsOf(
  target: Extract<Target, { by: 'service' }>,
  rows: readonly Forwarding[],
  client: NamingClient & { readonly at?: string | undefined },
): ServiceGoals {
  const { port, protocol } = target;
  const ofFamily = rows.filter(({ id }) => id.family === client.family);
  const usable = ofFamily.length > 0 && client.at === undefined ? ofFamily : rows;
  const wanted = usable.filter((row) => isWanted(row, port, protocol));
  const goals = wanted
    .flatMap((row) => frontendsFor(row, client).map((each) => goalAt(row, each, client.nodeIPs)))
    // A node port without an address of the node counts as IPv4.
    .filter(({ to, at }) => to.address !== '' || at.row.id.family === 'IPv4');
  if (goals.length > 0) return { is: 'frontends', goals };
  const number = Number(port);
  const address = usable[0]?.frontends[0]?.address;
  const isNumber = Number.isInteger(number) && number >= 1 && number <= LAST_PORT;
  if (isNumber && address !== undefined && wanted.length === 0) {
    return { is: 'undeclared', to: { address, port: number, protocol: protocol ?? 'TCP' } };
  }
  return { is: 'no such port', ports: portsOf(usable) };
}

function frontendsFor(
  { frontends }: Forwarding,
  { class: sourceClass, at }: NamingClient & { readonly at?: string | undefined },
): readonly Frontend[] {
  if (at !== undefined) return frontends.filter((each) => isAt(each, at));
  const inside = frontends.filter(({ kind }) => kind === 'cluster-ip');
  const others = frontends.filter(({ kind }) => kind !== 'cluster-ip');
  const [first, second] = sourceClass === 'outside' ? [others, inside] : [inside, others];
  return first.length > 0 ? first : second;
}

/** `198.18.0.1`, `cluster-ip`, `node-port`. */
function isAt({ kind, address }: Frontend, at: string): boolean {
  return kind === at || (address !== '' && normalizeIp(at)?.address === address);
}

function goalAt(row: Forwarding, frontend: Frontend, nodeIPs: readonly string[]): ServiceGoal {
  const { family, protocol } = row.id;
  const { kind, port } = frontend;
  const nodeIP = nodeIPs.find((each) => familyOf(each) === family) ?? '';
  const address = kind === 'node-port' ? nodeIP : frontend.address;
  return { to: { address, port, protocol }, at: { row, frontend } };
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
