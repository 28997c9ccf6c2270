import { formatCidr, parseCidr } from '../addresses/cidr.ts';
import { parseIp } from '../addresses/ip.ts';
import { isDnsLabel, isDnsSubdomain, isLabelValue } from '../labels/api-names.ts';
import { parseSelector } from '../labels/selector.ts';
import type { Problem } from './config-problem.ts';
import type { ResolvedFields } from './layers.ts';
import { parseListenAddress } from './network-text.ts';
import type { ScopeSettings, Settings } from './settings.ts';

type Fault = string | undefined;

/** Undefined: all Services. */
export function scopeSettings(fields: ResolvedFields): ScopeSettings | undefined {
  const namespaces = [...new Set(fields['fairlead.scope.namespaces'].value)];
  const services = [...new Set(fields['fairlead.scope.services'].value)];
  const serviceSelector = fields['fairlead.scope.serviceSelector'].value.trim();
  if (namespaces.length === 0 && services.length === 0 && serviceSelector === '') return undefined;
  return { namespaces, services, ...(serviceSelector === '' ? {} : { serviceSelector }) };
}

/** Pods of a node expect every Service. */
export function scopeWarnings(fields: ResolvedFields): readonly Problem[] {
  const isNode = fields['fairlead.nodeObject'].value !== 'none';
  if (!isNode || scopeSettings(fields) === undefined) return [];
  const message =
    'is set on a node: its pods do not reach other Services; it is meant for fairlead.nodeObject "none"';
  return [{ subject: 'fairlead.scope', message }];
}

/** A machine without a Node object does not take its ranges from the cluster, which they limit. */
export function rangeWarnings(fields: ResolvedFields): readonly Problem[] {
  const isNode = fields['fairlead.nodeObject'].value !== 'none';
  const isEveryIpServed = fields['fairlead.servedAddresses'].value.includes('allClusterIPs');
  const hasRanges = fields['fairlead.serviceRanges'].value.length > 0;
  if (isNode || isEveryIpServed || hasRanges) return [];
  const message =
    'is empty, so no ClusterIP is served: without a Node object only those in the configured ranges are; `fairlead outside init --apply` writes the ranges';
  return [{ subject: 'fairlead.serviceRanges', message }];
}

/** Facts of the cluster that the configuration gives. */
export function clusterSettings(
  fields: ResolvedFields,
): Pick<
  Settings,
  'serviceRanges' | 'serviceRoutes' | 'podNetwork' | 'dnsStub' | 'clusterDns' | 'clusterDomain'
> {
  const dnsStub = parseListenAddress(fields['fairlead.dnsStub'].value);
  return {
    serviceRanges: fields['fairlead.serviceRanges'].value.flatMap((text) => {
      const range = parseCidr(text);
      return range === undefined ? [] : [formatCidr(range)];
    }),
    serviceRoutes: fields['fairlead.serviceRoutes'].value === 'missing' ? 'missing' : 'none',
    podNetwork: fields['fairlead.podNetwork'].value === 'api-server' ? 'api-server' : 'routed',
    ...(dnsStub === undefined ? {} : { dnsStub }),
    clusterDns: [...fields['fairlead.clusterDNS'].value],
    clusterDomain: fields['fairlead.clusterDomain'].value,
  };
}

/** An API server accepts 100 requests at a time on a connection. Some are left for others. */
const MOST_WATCHES = 90;

/** One connection carries all watches; more of them would wait for ever. */
export function scopeTooLarge(fields: ResolvedFields): Fault {
  const scope = scopeSettings(fields);
  if (scope === undefined) return undefined;
  const { namespaces, services, serviceSelector } = scope;
  const ofServices = new Set(services.map((text) => text.split('/', 1)[0]));
  const perNamespace = serviceSelector === undefined ? 2 : 3;
  const count = perNamespace * namespaces.length + services.length + ofServices.size;
  if (count <= MOST_WATCHES) return undefined;
  return `is too large: its namespaces and services need ${count} watches, and at most ${MOST_WATCHES} are possible; use fairlead.scope.serviceSelector without namespaces`;
}

export function notAZone(text: string): Fault {
  if (isLabelValue(text)) return undefined;
  return `must be a zone as in the label topology.kubernetes.io/zone, and is ${JSON.stringify(text)}`;
}

export function notANamespace(text: string): Fault {
  if (isDnsLabel(text)) return undefined;
  return `must contain names of namespaces, and contains ${JSON.stringify(text)}`;
}

export function notANamedService(text: string): Fault {
  const parts = text.split('/');
  if (parts.length === 2 && parts.every(isDnsLabel)) return undefined;
  return `must contain Services as namespace/name, and contains ${JSON.stringify(text)}`;
}

export function notASelector(text: string): Fault {
  const parsed = parseSelector(text);
  return 'fault' in parsed ? `must be a label selector, and ${parsed.fault}` : undefined;
}

export function notAServiceRange(text: string): Fault {
  const range = parseCidr(text);
  if (range !== undefined && range.prefixLength > 0) return undefined;
  return `must contain Service ranges such as 10.96.0.0/12, and contains ${JSON.stringify(text)}`;
}

export function notAnAddress(text: string): Fault {
  if (parseIp(text) !== undefined) return undefined;
  return `must contain IP addresses, and contains ${JSON.stringify(text)}`;
}

export function notADomain(text: string): Fault {
  if (isDnsSubdomain(text)) return undefined;
  return `must be a domain such as cluster.local, and is ${JSON.stringify(text)}`;
}
