import { createHash } from 'node:crypto';

/** How much a cluster holds besides what the lab itself makes. */
export interface LoadSize {
  readonly services: number;
  readonly endpointsPerService: number;
}

/** One key of etcd and the object under it, as the API server would have stored it. */
export interface StoredObject {
  readonly key: string;
  readonly value: object;
}

/** Controllers list slices per namespace: with all in one, their cost would be quadratic. */
const SERVICES_PER_NAMESPACE = 100;
/** The size up to which the endpoint slice controller fills a slice. */
const ENDPOINTS_PER_SLICE = 100;
const CREATED_AT = '2026-01-01T00:00:00Z';
const SERVE_PORT = 8080;

/**
 * Services without selectors, their slices, and the records of their addresses, so that the API
 * server's allocator knows them as taken. The same size always gives the same objects.
 */
export function* loadObjects(size: LoadSize): Generator<StoredObject> {
  for (let index = 0; index < size.services; index++) {
    if (index % SERVICES_PER_NAMESPACE === 0) yield namespaceObject(namespaceOf(index));
    yield* serviceObjects(index, size.endpointsPerService);
  }
}

function* serviceObjects(index: number, endpointCount: number): Generator<StoredObject> {
  const name = serviceName(index);
  const namespace = namespaceOf(index);
  const address = clusterIpOf(index);
  yield {
    key: `/registry/services/specs/${namespace}/${name}`,
    value: service({ namespace, name, address }),
  };
  yield {
    key: `/registry/ipaddresses/${address}`,
    value: addressRecord({ namespace, name, address }),
  };
  for (let first = 0; first < endpointCount; first += ENDPOINTS_PER_SLICE) {
    const serials = range(first, Math.min(first + ENDPOINTS_PER_SLICE, endpointCount));
    const sliceName = `${name}-${first / ENDPOINTS_PER_SLICE}`;
    const addresses = serials.map((serial) => endpointAddress(index * endpointCount + serial));
    yield {
      key: `/registry/endpointslices/${namespace}/${sliceName}`,
      value: slice({ namespace, name: sliceName, service: name, addresses }),
    };
  }
}

function serviceName(index: number): string {
  return `svc-${String(index).padStart(5, '0')}`;
}

/** From 10.97.0.0 on, inside the lab's 10.96.0.0/12. */
export function clusterIpOf(index: number): string {
  return `10.${97 + (index >> 16)}.${(index >> 8) & 0xff}.${index & 0xff}`;
}

/** From 10.229.0.0 on: the pod networks of nodes that the lab does not have. */
export function endpointAddress(serial: number): string {
  return `10.${229 + (serial >> 16)}.${(serial >> 8) & 0xff}.${serial & 0xff}`;
}

function namespaceOf(index: number): string {
  return `load-${Math.floor(index / SERVICES_PER_NAMESPACE)}`;
}

function namespaceObject(name: string): StoredObject {
  return {
    key: `/registry/namespaces/${name}`,
    value: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: metadata(name),
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    },
  };
}

interface Named {
  readonly namespace: string;
  readonly name: string;
  readonly address: string;
}

function service({ namespace, name, address }: Named): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(name, namespace),
    spec: {
      type: 'ClusterIP',
      clusterIP: address,
      clusterIPs: [address],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
      sessionAffinity: 'None',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: SERVE_PORT }],
    },
    status: { loadBalancer: {} },
  };
}

function addressRecord({ namespace, name, address }: Named): object {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: {
      ...metadata(address),
      labels: {
        'ipaddress.kubernetes.io/ip-family': 'IPv4',
        'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
      },
    },
    spec: { parentRef: { group: '', resource: 'services', namespace, name } },
  };
}

function slice(of: {
  namespace: string;
  name: string;
  service: string;
  addresses: readonly string[];
}): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...metadata(of.name, of.namespace),
      labels: {
        'kubernetes.io/service-name': of.service,
        'endpointslice.kubernetes.io/managed-by': 'load.fairlead',
      },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: SERVE_PORT }],
    endpoints: of.addresses.map((address, index) => ({
      addresses: [address],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: index % 2 === 0 ? 'elsewhere-a' : 'elsewhere-b',
      zone: index % 2 === 0 ? 'zone-a' : 'zone-b',
    })),
  };
}

function metadata(name: string, namespace?: string): object {
  const scope = namespace === undefined ? {} : { namespace };
  return { name, ...scope, uid: uidOf(`${namespace}/${name}`), creationTimestamp: CREATED_AT };
}

/** A well-formed UUID that depends on the name only. */
function uidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const part = (from: number, length: number): string => hex.slice(from, from + length);
  return `${part(0, 8)}-${part(8, 4)}-4${part(13, 3)}-a${part(17, 3)}-${part(20, 12)}`;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, offset) => from + offset);
}
