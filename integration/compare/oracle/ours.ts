import { isDeepStrictEqual } from 'node:util';
import { Interner } from '../../../src/cluster/narrow/interner.ts';
import { narrow } from '../../../src/cluster/narrow/narrow.ts';
import { candidatesOf } from '../../../src/forwarding/candidates.ts';
import { endpointKey, knownEndpoints } from '../../../src/forwarding/endpoints.ts';
import { healthCheckOf } from '../../../src/forwarding/health.ts';
import {
  type EndpointList,
  FAMILIES,
  type Family,
  type Forwarding,
  type Frontend,
  type Outcome,
  servicePortKey,
} from '../../../src/forwarding/model.ts';
import { select } from '../../../src/forwarding/selection.ts';
import {
  type ServicePort,
  servicePorts,
  usesClusterEndpoints,
  usesLocalEndpoints,
} from '../../../src/forwarding/service-ports.ts';
import { ForwardingTable } from '../../../src/forwarding/table.ts';
import { unknownNode } from '../../../src/forwarding/testing/unknown-node.ts';
import type { Answer, PortAnswer, Verdicts } from './answer.ts';
import type { ClusterState } from './states.ts';

/** Fairlead's answer: objects narrowed as from the API, put into the table, read out again. */
export function askOurs(state: ClusterState): Answer {
  // Its addresses stay unknown, so that no range of a generated Service holds the node.
  const { nodeName, zone, masqueradeAll } = state;
  const detectsPods = { IPv4: state.detectsPods, IPv6: state.detectsPods };
  const addressRules = 'kube-proxy' as const;
  const view = { ...unknownNode(nodeName), zone, masqueradeAll, detectsPods, addressRules };
  const table = new ForwardingTable(view);
  const interner = new Interner();
  for (const raw of state.services) {
    const found = narrow('service', raw, interner);
    if (found) table.putService(found.object);
  }
  for (const raw of state.slices) {
    const found = narrow('slice', raw, interner);
    if (found) table.putSlice(found.object);
  }
  const pairs = table
    .serviceNames()
    .flatMap((name) => FAMILIES.map((family) => ({ name, family })));
  return {
    ports: pairs.flatMap((pair) => portsOf(table, pair)).sort((a, b) => (a.key < b.key ? -1 : 1)),
    health: Object.fromEntries(pairs.flatMap((pair) => healthOf(table, pair))),
  };
}

type Pair = { name: string; family: Family };

function portsOf(table: ForwardingTable, { name, family }: Pair): PortAnswer[] {
  const service = table.service(name);
  if (!service) return [];
  return servicePorts(service, family, table.view).map((port) => {
    const row = table.get(servicePortKey(port.id));
    if (!row) throw new Error(`the table has no row for ${servicePortKey(port.id)}`);
    assertExplained(table, row);
    return portAnswer({ port, row, anywhere: isAnywhere(table, { name, port }) });
  });
}

function portAnswer(of: { port: ServicePort; row: Forwarding; anywhere: boolean }): PortAnswer {
  const { port, row, anywhere } = of;
  return {
    key: servicePortKey(port.id),
    clusterIP: port.clusterIP,
    port: port.port,
    nodePort: port.nodePort,
    externalIPs: port.externalIPs,
    loadBalancerIPs: port.loadBalancerIPs,
    sourceRanges: port.allowedSources ?? [],
    internalLocal: port.internalLocal,
    externalLocal: port.externalLocal,
    affinitySeconds: row.affinitySeconds,
    cluster: row.clusterEndpoints.map(endpointKey),
    local: row.localEndpoints.map(endpointKey),
    anywhere,
    verdicts: verdictsOf(row),
  };
}

function verdictsOf(row: Forwarding): Verdicts {
  return Object.fromEntries(row.frontends.map((frontend) => [frontend.kind, textsOf(frontend)]));
}

function textsOf({ outcomes }: Frontend): Verdicts[string] {
  const text = (outcome: Outcome): string => {
    if (outcome.action !== 'forward') return outcome.action;
    return outcome.masquerade ? `${outcome.list} masqueraded` : outcome.list;
  };
  return { pod: text(outcomes.pod), host: text(outcomes.host), outside: text(outcomes.outside) };
}

/** The reasons that a person is given must be those of the lists that are used. */
function assertExplained(table: ForwardingTable, row: Forwarding): void {
  const name = `${row.id.namespace}/${row.id.service}`;
  const service = table.service(name);
  if (!service) throw new Error(`the table has no Service ${name}`);
  const { view } = table;
  const candidates = candidatesOf({ service, slices: table.slicesOf(name), id: row.id, view });
  const chosen = (list: EndpointList): string[] =>
    candidates.filter(({ verdicts }) => verdicts[list] === 'selected').map(endpointKey);
  const lists = { cluster: row.clusterEndpoints, local: row.localEndpoints };
  for (const list of ['cluster', 'local'] as const) {
    if (isDeepStrictEqual(chosen(list), lists[list].map(endpointKey))) continue;
    throw new Error(
      `${servicePortKey(row.id)}: the reasons for the ${list} list do not match the list`,
    );
  }
}

function isAnywhere(table: ForwardingTable, of: { name: string; port: ServicePort }): boolean {
  const known = knownEndpoints(of.port.id, table.slicesOf(of.name), table.view);
  const need = { cluster: usesClusterEndpoints(of.port), local: usesLocalEndpoints(of.port) };
  return select(known, need, table.view).anywhere;
}

function healthOf(table: ForwardingTable, { name, family }: Pair): [string, number][] {
  const service = table.service(name);
  if (!service || servicePorts(service, family, table.view).length === 0) return [];
  const slices = table.slicesOf(name);
  const found = healthCheckOf({ service, slices, family, view: table.view });
  return found ? [[`${name}/${found.port}/${family}`, found.localEndpoints]] : [];
}
