import type {
  NodeObject,
  ServiceObject,
  ServicePortObject,
  SliceObject,
} from '../../cluster/objects.ts';
import type { FieldChange } from './history-entry.ts';
import { shortened } from './some-names.ts';

const LONGEST_VALUE = 160;
const NO_CHANGES: readonly FieldChange[] = [];

/** Fields of the API with their values as text. */
type FieldTexts<T> = readonly (readonly [field: string, text: (object: T) => string])[];

const SERVICE_FIELDS: FieldTexts<ServiceObject> = [
  ['spec.type', ({ type }) => type],
  ['spec.clusterIPs', ({ clusterIPs }) => listText(clusterIPs)],
  ['spec.externalIPs', ({ externalIPs }) => listText(externalIPs)],
  ['spec.ports', ({ ports }) => listText(ports.map(portText))],
  ['spec.externalTrafficPolicy', (service) => service.externalTrafficPolicy],
  ['spec.internalTrafficPolicy', (service) => service.internalTrafficPolicy],
  ['spec.sessionAffinity', ({ affinitySeconds: s }) => (s === 0 ? 'None' : `ClientIP, ${s} s`)],
  ['spec.loadBalancerSourceRanges', (service) => listText(service.loadBalancerSourceRanges)],
  ['spec.healthCheckNodePort', ({ healthCheckNodePort: port }) => (port === 0 ? '' : `${port}`)],
  [
    'status.loadBalancer.ingress',
    ({ loadBalancerIPs: all }) => listText(all.map(({ ip, ipMode }) => `${ip} (${ipMode})`)),
  ],
  ['label service.kubernetes.io/service-proxy-name', ({ labels }) => labels.proxyName ?? ''],
  ['label fairlead.dev/ebpf', ({ labels }) => labels.ebpf ?? ''],
  ['annotation fairlead.dev/ipvs-scheduler', ({ ipvsScheduler }) => ipvsScheduler ?? ''],
];

const NODE_FIELDS: FieldTexts<NodeObject> = [
  ['label topology.kubernetes.io/zone', ({ zone }) => zone],
  ['status.addresses', ({ addresses }) => listText(addresses)],
  ['spec.podCIDRs', ({ podCIDRs }) => listText(podCIDRs)],
  ['metadata.deletionTimestamp', ({ deleting }) => (deleting ? 'set' : '')],
  ['spec.taints', ({ taintKeys }) => listText(taintKeys)],
];

export function serviceFieldChanges(
  before: ServiceObject,
  after: ServiceObject,
): readonly FieldChange[] {
  const changes = changesOf(before, after, SERVICE_FIELDS);
  if (before.selectorHash === after.selectorHash) return changes;
  // Only a hash of it is kept.
  const had = (hash: number | undefined) => (hash === undefined ? '' : 'a selector');
  const selector = {
    field: 'spec.selector',
    before: had(before.selectorHash),
    after: after.selectorHash === undefined ? '' : 'another selector',
  };
  return [...changes, selector];
}

export function nodeFieldChanges(before: NodeObject, after: NodeObject): readonly FieldChange[] {
  return changesOf(before, after, NODE_FIELDS);
}

/** Of a slice besides its endpoints. */
export function sliceFieldChanges(before: SliceObject, after: SliceObject): readonly FieldChange[] {
  // Equal lists of ports are nearly always one.
  if (before.ports === after.ports) return NO_CHANGES;
  return changesOf(before, after, SLICE_FIELDS);
}

const SLICE_FIELDS: FieldTexts<SliceObject> = [
  [
    'ports',
    ({ ports }) =>
      listText(
        ports.map(({ name, protocol, port }) => {
          return `${name === '' ? '' : `${name} `}${port ?? 'every'}/${protocol}`;
        }),
      ),
  ],
];

function changesOf<T>(before: T, after: T, fields: FieldTexts<T>): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const [field, text] of fields) {
    const [was, is] = [text(before), text(after)];
    if (was !== is) changes.push({ field, ...pairOf(was, is) });
  }
  return changes;
}

function portText({ name, protocol, port, nodePort }: ServicePortObject): string {
  const named = name === '' ? '' : `${name} `;
  return `${named}${port}/${protocol}${nodePort === 0 ? '' : ` node port ${nodePort}`}`;
}

function listText(items: readonly string[]): string {
  return items.join(', ');
}

/** Long values without what they have in common at the beginning. */
function pairOf(was: string, is: string): { before: string; after: string } {
  const isLong = was.length > LONGEST_VALUE || is.length > LONGEST_VALUE;
  let same = 0;
  if (isLong) while (same < was.length && was[same] === is[same]) same++;
  const start = isLong ? Math.max(0, was.lastIndexOf(', ', same)) : 0;
  const cut = (text: string): string => {
    return shortened(start === 0 ? text : `…${text.slice(start)}`, LONGEST_VALUE);
  };
  return { before: cut(was), after: cut(is) };
}
