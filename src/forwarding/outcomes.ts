import type {
  EndpointList,
  Frontend,
  FrontendKind,
  NodeView,
  Outcome,
  SourceClass,
} from './model.ts';
import type { Selection } from './selection.ts';
import type { ServicePort } from './service-ports.ts';

/**
 * The whole of traffic policy:
 *
 *   frontend    policy             pod                host                  outside
 *   cluster IP  internal Cluster   cluster            cluster, masquerade   cluster, masquerade
 *   cluster IP  internal Local     local              local, masquerade     local, masquerade
 *   others      external Cluster   cluster, masquerade for all three
 *   others      external Local     cluster            cluster, masquerade   local
 *
 * Without a way to detect pods, nothing sent to a cluster IP is masqueraded (unless everything
 * shall be), and a pod counts as outside for the others. A machine without a Node object has no
 * local endpoints: what would use them is rejected.
 */
export function policyOf(port: ServicePort, selection: Selection, view: NodeView): Policy {
  return {
    internal: outcomes((source) => internalOutcome(source, { port, selection, view })),
    external: outcomes((source) => externalOutcome(source, { port, selection, view })),
  };
}

/** The outcomes at a cluster IP, and at all other frontends of a port. */
export interface Policy {
  readonly internal: Outcomes;
  readonly external: Outcomes;
}

export function frontendsOf(port: ServicePort, { internal, external }: Policy): Frontend[] {
  const at = (kind: FrontendKind, address: string): Frontend => ({
    kind,
    address,
    port: kind === 'node-port' ? port.nodePort : port.port,
    outcomes: kind === 'cluster-ip' ? internal : external,
    ...(kind === 'load-balancer-ip' && port.allowedSources !== undefined
      ? { allowedSources: port.allowedSources }
      : {}),
  });
  // An address that is listed twice is one frontend: only that of a load balancer has source
  // ranges, and a cluster IP stays a cluster IP even if it is listed as another kind too.
  const balanced = without(port.loadBalancerIPs, [port.clusterIP]);
  const others = without(without(port.externalIPs, [port.clusterIP]), balanced);
  return [
    at('cluster-ip', port.clusterIP),
    ...others.map((address) => at('external-ip', address)),
    ...balanced.map((address) => at('load-balancer-ip', address)),
    ...(port.nodePort === 0 ? [] : [at('node-port', '')]),
  ];
}

function without(texts: readonly string[], others: readonly string[]): readonly string[] {
  if (texts.length === 0 || others.length === 0) return texts;
  const left = new Set(others);
  return texts.filter((text) => !left.has(text));
}

type Outcomes = Readonly<Record<SourceClass, Outcome>>;

// Fifty thousand Services have a handful of outcomes among them: each exists once.
const REJECT: Outcome = { action: 'reject' };
const REJECT_WITHOUT_NODE: Outcome = { action: 'reject', reason: 'not-a-node' };
const DROP: Outcome = { action: 'drop' };
const FORWARD: Readonly<Record<EndpointList, Record<'plain' | 'masqueraded', Outcome>>> = {
  cluster: {
    plain: { action: 'forward', list: 'cluster', masquerade: false },
    masqueraded: { action: 'forward', list: 'cluster', masquerade: true },
  },
  local: {
    plain: { action: 'forward', list: 'local', masquerade: false },
    masqueraded: { action: 'forward', list: 'local', masquerade: true },
  },
};
const { plain: CLUSTER, masqueraded: CLUSTER_MASQUERADED } = FORWARD.cluster;
const { plain: LOCAL, masqueraded: LOCAL_MASQUERADED } = FORWARD.local;
const USUAL_OUTCOMES: readonly Outcomes[] = [
  { pod: CLUSTER, host: CLUSTER_MASQUERADED, outside: CLUSTER_MASQUERADED },
  { pod: CLUSTER_MASQUERADED, host: CLUSTER_MASQUERADED, outside: CLUSTER_MASQUERADED },
  { pod: LOCAL, host: LOCAL_MASQUERADED, outside: LOCAL_MASQUERADED },
  { pod: CLUSTER, host: CLUSTER_MASQUERADED, outside: LOCAL },
  { pod: CLUSTER, host: CLUSTER_MASQUERADED, outside: DROP },
  { pod: REJECT, host: REJECT, outside: REJECT },
  { pod: REJECT_WITHOUT_NODE, host: REJECT_WITHOUT_NODE, outside: REJECT_WITHOUT_NODE },
  { pod: CLUSTER, host: CLUSTER_MASQUERADED, outside: REJECT_WITHOUT_NODE },
];

interface Circumstances {
  readonly port: ServicePort;
  readonly selection: Selection;
  readonly view: NodeView;
}

function outcomes(outcomeFor: (source: SourceClass) => Outcome): Outcomes {
  const [pod, host, outside] = [outcomeFor('pod'), outcomeFor('host'), outcomeFor('outside')];
  const shared = USUAL_OUTCOMES.find(
    (o) => o.pod === pod && o.host === host && o.outside === outside,
  );
  return shared ?? { pod, host, outside };
}

function internalOutcome(source: SourceClass, circumstances: Circumstances): Outcome {
  const { port, view } = circumstances;
  const fromElsewhere = source !== 'pod' && view.detectsPods[port.id.family];
  const list = port.internalLocal ? 'local' : 'cluster';
  return forward({ list, masquerade: view.masqueradeAll || fromElsewhere }, circumstances);
}

function externalOutcome(source: SourceClass, circumstances: Circumstances): Outcome {
  const { port, view } = circumstances;
  if (!port.externalLocal) return forward({ list: 'cluster', masquerade: true }, circumstances);
  // A connection that starts here is not bound to this node: it is balanced over all endpoints.
  if (source === 'host') return forward({ list: 'cluster', masquerade: true }, circumstances);
  const isPod = source === 'pod' && view.detectsPods[port.id.family];
  return forward({ list: isPod ? 'cluster' : 'local', masquerade: false }, circumstances);
}

/**
 * No endpoint: reject if there is none on any node, else drop, because another node answers. No
 * other machine answers for one that is not a node.
 */
function forward(
  { list, masquerade }: { list: EndpointList; masquerade: boolean },
  { selection, view }: Circumstances,
): Outcome {
  if (selection[list].length > 0) return FORWARD[list][masquerade ? 'masqueraded' : 'plain'];
  if (!selection.anywhere) return REJECT;
  return view.isNode === false ? REJECT_WITHOUT_NODE : DROP;
}
