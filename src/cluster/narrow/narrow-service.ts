import {
  arrayAt,
  integerAt,
  isRecord,
  type JsonRecord,
  recordAt,
  textAt,
  timeMsAt,
} from '../json.ts';
import type {
  LoadBalancerIp,
  ServiceLabels,
  ServiceObject,
  ServicePortObject,
} from '../objects.ts';
import { compact, type Interner } from './interner.ts';
import { isName, type Named } from './meta.ts';
import { PORT_BOUNDS, readEbpfChoice, textsAt } from './parts.ts';

const PROXY_NAME_LABEL = 'service.kubernetes.io/service-proxy-name';
const SCHEDULER_ANNOTATION = 'fairlead.dev/ipvs-scheduler';
const HEADLESS = 'None';
/** The API's own default and bounds of `sessionAffinityConfig.clientIP.timeoutSeconds`. */
const DEFAULT_AFFINITY_SECONDS = 10_800;
const AFFINITY_BOUNDS = { min: 1, max: 86_400 } as const;
const NO_LABELS: ServiceLabels = Object.freeze({});

export function narrowService(named: Named, interner: Interner): ServiceObject | undefined {
  // Without a namespace two Services of one name would have the same key.
  if (named.namespace === '') return undefined;
  const { spec, metadata } = named;
  const affinity = textAt(spec, 'sessionAffinity') === 'ClientIP';
  const ports = readPorts(spec, interner);
  if (!ports.every(({ name }) => name === '' || isName(name))) return undefined;
  return {
    namespace: named.namespace,
    name: named.name,
    createdAtSeconds: Math.floor((timeMsAt(metadata, 'creationTimestamp') ?? 0) / 1000),
    labels: readLabels(named.labels, interner),
    type: interner.text(textAt(spec, 'type') || 'ClusterIP'),
    clusterIPs: readClusterIps(spec),
    externalIPs: textsAt(spec, 'externalIPs'),
    loadBalancerIPs: readIngress(named.raw),
    loadBalancerSourceRanges: interner.list(textsAt(spec, 'loadBalancerSourceRanges')),
    ports,
    externalTrafficPolicy: policyAt(spec, 'externalTrafficPolicy'),
    internalTrafficPolicy: policyAt(spec, 'internalTrafficPolicy'),
    affinitySeconds: affinity ? affinitySeconds(spec) : 0,
    healthCheckNodePort: integerAt(spec, 'healthCheckNodePort', PORT_BOUNDS),
    ...readScheduler(metadata, interner),
    ...readSelector(spec),
  };
}

function readLabels(labels: JsonRecord, interner: Interner): ServiceLabels {
  const proxyName = labels[PROXY_NAME_LABEL];
  const ebpf = readEbpfChoice(labels);
  if (typeof proxyName !== 'string' && ebpf === undefined) return NO_LABELS;
  return {
    // The label assigns the Service to another proxy, even with an empty value.
    ...(typeof proxyName === 'string' ? { proxyName: interner.text(proxyName) } : {}),
    ...(ebpf === undefined ? {} : { ebpf }),
  };
}

/** Fifty thousand selectors would take megabytes, and only whether one changed is of interest. */
function readSelector(spec: JsonRecord): Pick<ServiceObject, 'selectorHash'> {
  const selector = recordAt(spec, 'selector');
  const keys = Object.keys(selector);
  if (keys.length === 0) return {};
  let hash = FNV_OFFSET;
  for (const key of keys.sort()) {
    hash = hashed(hash, key);
    hash = hashed(hash, `=${textAt(selector, key)},`);
  }
  return { selectorHash: hash };
}

/** FNV-1a by characters, as a 31-bit number, which V8 stores in place. */
function hashed(begin: number, text: string): number {
  let hash = begin;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  }
  return hash & 0x3fff_ffff;
}

const FNV_OFFSET = 0x811c_9dc5;
const FNV_PRIME = 0x0100_0193;

function readScheduler(
  metadata: JsonRecord,
  interner: Interner,
): Pick<ServiceObject, 'ipvsScheduler'> {
  const text = textAt(recordAt(metadata, 'annotations'), SCHEDULER_ANNOTATION);
  return text === '' ? {} : { ipvsScheduler: interner.text(text) };
}

function readClusterIps(spec: JsonRecord): readonly string[] {
  const listed = textsAt(spec, 'clusterIPs');
  const all = listed.length > 0 ? listed : [textAt(spec, 'clusterIP')];
  return compact(all.filter((ip) => ip !== '' && ip !== HEADLESS));
}

function readIngress(raw: JsonRecord): readonly LoadBalancerIp[] {
  const found: LoadBalancerIp[] = [];
  const balancer = recordAt(recordAt(raw, 'status'), 'loadBalancer');
  for (const ingress of arrayAt(balancer, 'ingress')) {
    if (!isRecord(ingress)) continue;
    const ip = textAt(ingress, 'ip');
    if (ip === '') continue;
    const mode = textAt(ingress, 'ipMode');
    // Only `VIP` and an absent mode are handled by a proxy.
    found.push({ ip, ipMode: mode === '' || mode === 'VIP' ? 'VIP' : 'Proxy' });
  }
  return compact(found);
}

function readPorts(spec: JsonRecord, interner: Interner): readonly ServicePortObject[] {
  const found: ServicePortObject[] = [];
  for (const port of arrayAt(spec, 'ports')) {
    if (!isRecord(port)) continue;
    const number = integerAt(port, 'port', PORT_BOUNDS);
    if (number === 0) continue;
    found.push({
      name: interner.text(textAt(port, 'name')),
      protocol: interner.text(textAt(port, 'protocol') || 'TCP'),
      port: number,
      nodePort: integerAt(port, 'nodePort', PORT_BOUNDS),
    });
  }
  return interner.list(found);
}

function policyAt(spec: JsonRecord, name: string): 'Cluster' | 'Local' {
  return spec[name] === 'Local' ? 'Local' : 'Cluster';
}

function affinitySeconds(spec: JsonRecord): number {
  const clientIp = recordAt(recordAt(spec, 'sessionAffinityConfig'), 'clientIP');
  return integerAt(clientIp, 'timeoutSeconds', AFFINITY_BOUNDS) || DEFAULT_AFFINITY_SECONDS;
}
