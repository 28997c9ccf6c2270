import { canonicalIp } from '../../../addresses/ip.ts';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../../cluster/json.ts';
import { SERVICE_LABEL } from '../../../explain/zero/empty-row.ts';
import type {
  Labels,
  PortName,
  ServiceThere,
  SliceThere,
} from '../../../explain/zero/surroundings.ts';

const PROXY_LABEL = 'service.kubernetes.io/service-proxy-name';

/** The fields of a Service that tell why it has no endpoint, or no row. */
export function serviceThere(raw: JsonRecord): ServiceThere {
  const [metadata, spec] = [recordAt(raw, 'metadata'), recordAt(raw, 'spec')];
  const listed = textsAt(spec, 'clusterIPs');
  const single = textAt(spec, 'clusterIP');
  const proxyName = recordAt(metadata, 'labels')[PROXY_LABEL];
  return {
    namespace: textAt(metadata, 'namespace') || 'default',
    name: textAt(metadata, 'name'),
    type: textAt(spec, 'type') || 'ClusterIP',
    selector: labelsAt(spec, 'selector'),
    ports: arrayAt(spec, 'ports').filter(isRecord).map(wantedPort),
    clusterIPs: (listed.length > 0 ? listed : [single]).filter(Boolean),
    externalName: textAt(spec, 'externalName'),
    loadBalancerClass: textAt(spec, 'loadBalancerClass'),
    ingress: arrayAt(recordAt(recordAt(raw, 'status'), 'loadBalancer'), 'ingress')
      .filter(isRecord)
      .map((each) => ({
        ip: textAt(each, 'ip'),
        hostname: textAt(each, 'hostname'),
        ipMode: textAt(each, 'ipMode'),
      })),
    ...(typeof proxyName === 'string' ? { proxyName } : {}),
  };
}

function wantedPort(raw: JsonRecord): ServiceThere['ports'][number] {
  const { targetPort, port } = raw;
  const isGiven = typeof targetPort === 'string' || typeof targetPort === 'number';
  return {
    name: textAt(raw, 'name'),
    protocol: textAt(raw, 'protocol') || 'TCP',
    port: typeof port === 'number' ? port : 0,
    ...(isGiven ? { targetPort } : {}),
  };
}

export function sliceThere(raw: JsonRecord): SliceThere {
  const metadata = recordAt(raw, 'metadata');
  const type = textAt(raw, 'addressType');
  const endpoints = arrayAt(raw, 'endpoints').filter(isRecord);
  return {
    name: textAt(metadata, 'name'),
    service: textAt(recordAt(metadata, 'labels'), SERVICE_LABEL),
    family: type === 'IPv4' || type === 'IPv6' ? type : 'FQDN',
    ports: arrayAt(raw, 'ports').filter(isRecord).map(portName),
    addresses: endpoints.flatMap((each) => {
      const [first] = textsAt(each, 'addresses');
      return first === undefined ? [] : [canonicalIp(first) ?? first];
    }),
  };
}

/** `port` of a slice, `containerPort` of a container. */
export function portName(raw: JsonRecord): PortName {
  const number = raw['port'] ?? raw['containerPort'];
  return {
    name: textAt(raw, 'name'),
    protocol: textAt(raw, 'protocol') || 'TCP',
    port: typeof number === 'number' ? number : 0,
  };
}

/** Addresses of an Endpoints object. */
export function legacyAddresses(raw: JsonRecord): number {
  return arrayAt(raw, 'subsets')
    .filter(isRecord)
    .flatMap((each) => [...arrayAt(each, 'addresses'), ...arrayAt(each, 'notReadyAddresses')])
    .length;
}

/** Of keys that the API server could accept: they go into commands to paste. */
export function labelsAt(parent: JsonRecord, name: string): Labels {
  const found = Object.entries(recordAt(parent, name)).filter(([key]) => /^[a-z0-9]/i.test(key));
  return Object.fromEntries(found.map(([key, value]) => [key, String(value)]));
}

function textsAt(parent: JsonRecord, name: string): string[] {
  return arrayAt(parent, name).filter((each) => typeof each === 'string');
}
