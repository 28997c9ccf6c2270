import { arrayAt, isRecord, type JsonRecord, recordAt, textAt, timeMsAt } from '../json.ts';
import type { NamespaceObject, NodeObject, ServiceCidrObject } from '../objects.ts';
import { compact, type Interner } from './interner.ts';
import type { Named } from './meta.ts';
import { readEbpfChoice, textOfEach, textsAt } from './parts.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';

export function narrowNode(named: Named, interner: Interner): NodeObject {
  return {
    name: named.name,
    zone: interner.text(textAt(named.labels, ZONE_LABEL)),
    addresses: readAddresses(named.raw),
    podCIDRs: readPodCidrs(named.spec),
    deleting: timeMsAt(named.metadata, 'deletionTimestamp') !== undefined,
    taintKeys: interner.list(textOfEach(named.spec, 'taints', 'key')),
  };
}

export function narrowServiceCidr(named: Named): ServiceCidrObject {
  return { name: named.name, cidrs: textsAt(named.spec, 'cidrs') };
}

export function narrowNamespace({ name, labels }: Named): NamespaceObject {
  const ebpf = readEbpfChoice(labels);
  return { name, ...(ebpf === undefined ? {} : { ebpf }) };
}

/** Internal before external addresses, the order in which Kubernetes chooses a node's address. */
function readAddresses(raw: JsonRecord): readonly string[] {
  const all = arrayAt(recordAt(raw, 'status'), 'addresses').filter(isRecord);
  const ofType = (type: string): string[] =>
    all.filter((entry) => entry['type'] === type).map((entry) => textAt(entry, 'address'));
  return compact([...ofType('InternalIP'), ...ofType('ExternalIP')].filter((ip) => ip !== ''));
}

function readPodCidrs(spec: JsonRecord): readonly string[] {
  const listed = textsAt(spec, 'podCIDRs');
  if (listed.length > 0) return listed;
  const single = textAt(spec, 'podCIDR');
  return compact(single === '' ? [] : [single]);
}
