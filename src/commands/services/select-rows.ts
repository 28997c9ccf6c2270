import type { RowState } from '../../agent/row-state.ts';
import type { NodeFacts } from '../../dataplanes/contract.ts';
import { type Backing, backingOf } from '../../forwarding/backing.ts';
import { type Candidate, candidatesOf } from '../../forwarding/candidates.ts';
import { endpointKey } from '../../forwarding/endpoints.ts';
import type {
  Forwarding,
  Frontend,
  FrontendKind,
  NodeView,
  Outcome,
} from '../../forwarding/model.ts';
import { servicePortName } from '../../forwarding/model.ts';
import type { ForwardingTable } from '../../forwarding/table.ts';

/** Selection: all Services, one, or one port. */
export interface Wish {
  readonly service?: string;
  readonly port?: string;
}

/** A row with its candidate endpoints. */
export interface Row {
  readonly forwarding: Forwarding;
  readonly candidates: readonly Candidate[];
  /** As the agent says; undefined: no agent was asked, or not for candidates. */
  readonly kernel?: RowState;
  /** Undefined: as for the candidates, or an older agent does not say. */
  readonly backing?: Backing;
}

export function parseWish(text: string | undefined): Wish {
  if (text === undefined) return {};
  const [service = '', port] = text.split(':');
  const full = service.includes('/') ? service : `default/${service}`;
  return port === undefined ? { service: full } : { service: full, port };
}

export function rowsOf(table: ForwardingTable, wish: Wish): Row[] {
  const names = wish.service === undefined ? table.serviceNames() : [wish.service];
  return names.flatMap((name) =>
    table
      .ofService(name)
      .filter((forwarding) => isWanted(wish, forwarding))
      .map((forwarding) => rowOf(table, name, forwarding)),
  );
}

export function isWanted(wish: Wish, forwarding: Forwarding | undefined): boolean {
  if (!forwarding) return false;
  const { namespace, service, port } = forwarding.id;
  const isService = wish.service === undefined || wish.service === `${namespace}/${service}`;
  return isService && (wish.port === undefined || wish.port === port);
}

function rowOf(table: ForwardingTable, name: string, forwarding: Forwarding): Row {
  const service = table.service(name);
  if (!service) return { forwarding, candidates: [] };
  const { id } = forwarding;
  const slices = table.slicesOf(name);
  const candidates = candidatesOf({ service, slices, id, view: table.view });
  return { forwarding, candidates, backing: backingOf(service, slices, id.family) };
}

/** `10.96.0.1:80`, `[fd00::1]:80` or `node port 30080`. */
export function frontendText(frontend: Frontend): string {
  if (frontend.kind === 'node-port') return `node port ${frontend.port}`;
  return endpointKey(frontend);
}

/** Node addresses that serve a node port. */
export function nodeAddresses(
  { kind }: Frontend,
  { id }: Forwarding,
  facts: NodeFacts,
): { readonly nodeAddresses?: 'all' | readonly string[] } {
  return kind === 'node-port' ? { nodeAddresses: facts.nodePortAddresses[id.family] } : {};
}

/** `2 of cluster, masqueraded`, `rejected`, `dropped`. */
export function outcomeText(outcome: Outcome, forwarding: Forwarding): string {
  if (outcome.action === 'reject') return 'rejected';
  if (outcome.action === 'drop') return 'dropped';
  const list = outcome.list === 'local' ? forwarding.localEndpoints : forwarding.clusterEndpoints;
  const where = outcome.list === 'local' ? ' here' : '';
  return `${list.length}${where}${outcome.masquerade ? ', masq' : ''}`;
}

export function portText({ id }: Forwarding): string {
  return `${servicePortName(id)} ${id.protocol}`;
}

export function viewText(view: NodeView): string {
  const zone = view.zone === '' ? 'no zone' : `zone ${view.zone}`;
  const unserved = unservedText(view);
  const where = view.isNode === false ? `${view.nodeName}, not a node` : `node ${view.nodeName}`;
  return `as seen from ${where} (${zone})${unserved === '' ? '' : `, where ${unserved}`}`;
}

const KIND_TEXT: Readonly<Record<FrontendKind, string>> = {
  'cluster-ip': 'ClusterIPs',
  'external-ip': 'external IPs',
  'load-balancer-ip': 'load-balancer IPs',
  'node-port': 'node ports',
};

/** `external IPs and node ports are not served`; empty if everything is. */
export function unservedText({ unserved = [] }: NodeView): string {
  if (unserved.length === 0) return '';
  return `${ENUMERATION.format(unserved.map((kind) => KIND_TEXT[kind]))} are not served`;
}

/** Why connections to a frontend are rejected although there are endpoints; empty: they are not. */
export function rejectText({ kind, outcomes }: Frontend): string {
  const isRejected = Object.values(outcomes).some(
    (outcome) => outcome.action === 'reject' && outcome.reason === 'not-a-node',
  );
  if (!isRejected) return '';
  const policy = kind === 'cluster-ip' ? 'internalTrafficPolicy' : 'externalTrafficPolicy';
  return `rejected: ${policy} is Local, and this machine is not a node`;
}

/** `clients: own sockets, packets by docker0`; empty if all clients are served. */
export function clientsText(interfaces: readonly string[] | undefined): string {
  if (interfaces === undefined) return '';
  return `clients: ${['own sockets', ...interfaces.map((name) => `packets by ${name}`)].join(', ')}`;
}

const ENUMERATION = new Intl.ListFormat('en', { type: 'conjunction' });
