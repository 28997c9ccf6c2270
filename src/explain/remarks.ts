import type { Source } from '../forwarding/answer/connection-source.ts';
import type { EndpointShare } from '../forwarding/answer/endpoint-shares.ts';
import type { Prediction } from '../forwarding/answer/prediction.ts';
import { type Frontend, type NotServed, servicePortName } from '../forwarding/model.ts';
import type { AskedSource, Remark } from './explanation.ts';
import { nodePortAddresses, type SentenceContext } from './predicted-sentence.ts';
import { portsOf } from './target.ts';

export interface RemarkContext extends SentenceContext {
  readonly source: Source;
  readonly from: AskedSource;
  readonly shares: readonly EndpointShare[];
}

/** What else matters about a prediction. */
export function remarksOf(prediction: Prediction, context: RemarkContext): readonly Remark[] {
  const { from, source, place } = context;
  const { clientInterfaces = [] } = place.facts;
  const isAway = from.otherNode !== undefined;
  return [
    ...remark(
      isAway,
      'but',
      `its node is ${from.otherNode}, which translates its connections: ask there`,
    ),
    ...about(prediction, context),
    ...remark(
      clientInterfaces.length > 0 && source.class !== 'host',
      'clients',
      `only if the packet comes in by ${clientInterfaces.join(' or ')}`,
    ),
  ];
}

function about(prediction: Prediction, context: RemarkContext): readonly Remark[] {
  switch (prediction.code) {
    case 'WOULD_REACH':
      return reaching(prediction, context);
    case 'DROPPED_NO_LOCAL_ENDPOINTS':
    case 'REFUSED_NOT_A_NODE': {
      const { healthCheckPort } = prediction.row;
      return [
        ...remark(true, 'policy', `${policyField(prediction.frontend)}: Local`),
        ...remark(
          healthCheckPort !== undefined && prediction.frontend.kind !== 'cluster-ip',
          'health check',
          `node port ${healthCheckPort} answers 503 here, so that a load balancer that asks sends nothing to this node`,
        ),
      ];
    }
    case 'DROPPED_SOURCE_RANGE': {
      const { allowedSources } = prediction;
      const who = context.source.address ?? 'it';
      const ranges = allowedSources.join(', ');
      const text =
        ranges === '' ? 'no address of this family is allowed' : `${who} is in none of ${ranges}`;
      return remark(true, 'source ranges', text);
    }
    case 'PORT_NOT_DECLARED':
      return remark(true, 'ports', portsOf(prediction.rows).join(', '));
    case 'NO_SUCH_ADDRESS': {
      const { nodePort } = prediction;
      if (nodePort === undefined) return [];
      const name = servicePortName(nodePort.row.id);
      const text = `${nodePort.frontend.port} is a node port of ${name}, served here at ${nodePortAddresses(context.to, context.place)}`;
      return remark(true, 'node port', text);
    }
    default:
      return [];
  }
}

function reaching(
  prediction: Extract<Prediction, { code: 'WOULD_REACH' }>,
  { source, shares, place }: RemarkContext,
): readonly Remark[] {
  const { masquerade, affinitySeconds, relayed, frontend } = prediction;
  const { allowedSources } = frontend;
  const own = source.address ?? "the client's address";
  const by = place.madeBy?.(prediction, source.class);
  const isUnknown = place.isPodRangeUnknown && !masquerade && source.class !== 'pod';
  const seen = isUnknown ? UNKNOWN_SOURCE : seenText({ masquerade, by, own, shares });
  const seconds = affinitySeconds.toLocaleString('en-US');
  return [
    ...remark(true, 'seen as', seen),
    ...remark(
      !masquerade && shares.some(({ hairpin }) => hairpin),
      'itself',
      ITSELF[by ?? 'rules'],
    ),
    ...remark(
      shares.some(({ nodeSource, hairpin }) => nodeSource && !hairpin),
      'on this node',
      'an endpoint with an address of this node sees an address of this node: the forwarder connects to it',
    ),
    ...remark(
      shares.some(({ keepsSource }) => keepsSource),
      'on this node',
      `an endpoint with an address of this node sees ${own}: what is delivered here is not masqueraded`,
    ),
    ...remark(
      allowedSources !== undefined && source.address === undefined,
      'only from',
      allowedSources?.join(', ') ?? '',
    ),
    ...remark(
      affinitySeconds > 0,
      'affinity',
      `a client that has connected within ${seconds} s gets the same endpoint again`,
    ),
    ...remark(relayed === true, 'relay', 'the agent accepts it on loopback, and copies the bytes'),
  ];
}

const UNKNOWN_SOURCE =
  "not known: the client's address, or one of this node. Masquerading depends on the range of pods: --cluster-cidr, or --config with the node's configuration";

const ITSELF = {
  rules: 'an endpoint that reaches itself is masqueraded',
  socket: 'an endpoint that reaches itself sees its own address: its socket connects to itself',
  process: 'an endpoint that reaches itself sees an address of this node',
} as const;

/** Which source address endpoints see, where it is the same for all of them. */
function seenText(seen: {
  readonly masquerade: boolean;
  readonly by: 'socket' | 'process' | undefined;
  readonly own: string;
  readonly shares: readonly EndpointShare[];
}): string {
  const { masquerade, by, own, shares } = seen;
  const chosen = shares.filter(({ selected }) => selected);
  const isAll = (is: (share: EndpointShare) => boolean | undefined): boolean =>
    chosen.length > 0 && chosen.every(is);
  const isKept = masquerade && isAll(({ keepsSource }) => keepsSource);
  const isNode = masquerade ? !isKept : isAll(({ nodeSource }) => nodeSource);
  if (!isNode) return `the endpoint sees ${own}`;
  const head = masquerade && by === undefined ? 'masqueraded: ' : '';
  return `${head}the endpoint sees an address of this node`;
}

function remark(isTrue: boolean, topic: string, text: string): readonly Remark[] {
  return isTrue ? [{ topic, text }] : [];
}

function policyField({ kind }: Frontend): string {
  return kind === 'cluster-ip' ? 'internalTrafficPolicy' : 'externalTrafficPolicy';
}

function notServedNext(why: NotServed): readonly string[] {
  const rules = 'give the Service another address: docs/decisions/0027-address-rules.md';
  if (why.reason === 'outside-ranges') {
    return [
      'if it may have this address, add its range to fairlead.serviceRanges: docs/outside.md',
    ];
  }
  return why.reason === 'other-service' ? [`fairlead services ${why.service}`, rules] : [rules];
}

/** What to do about it. */
export function nextOf(prediction: Prediction, { shares, to }: RemarkContext): readonly string[] {
  switch (prediction.code) {
    case 'REFUSED_NO_ENDPOINTS': {
      const what = shares.length === 0 ? 'endpointslices' : 'pods -o wide';
      return [`kubectl -n ${prediction.row.id.namespace} get ${what}`];
    }
    case 'DROPPED_NO_LOCAL_ENDPOINTS':
      return prediction.frontend.kind === 'cluster-ip'
        ? ['run an endpoint on this node, or set internalTrafficPolicy: Cluster']
        : [
            'connect to a node that has an endpoint, run one here, or set externalTrafficPolicy: Cluster',
          ];
    case 'DROPPED_SOURCE_RANGE':
      return ['add the client to loadBalancerSourceRanges, or connect to the cluster IP'];
    case 'NOT_SERVED':
      return notServedNext(prediction.notServed);
    case 'NOT_A_CLIENT':
      return ['name the interface of the client in fairlead.clients: docs/outside.md'];
    case 'NODE_PORT_NOT_HERE':
      return [`connect to another address, or add ${to.address} to nodePortAddresses`];
    case 'PORT_NOT_DECLARED':
      return ['connect to one of its ports, or declare this one in the Service'];
    case 'NO_SUCH_ADDRESS':
      return ['`fairlead services` lists every address that this node serves'];
    default:
      return [];
  }
}
