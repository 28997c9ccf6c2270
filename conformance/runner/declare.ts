import { paths, type Service } from '../../lab/api/objects.ts';
import type { Pod, PodPort } from '../../lab/kubelet/pods.ts';
import { type AddressPair, FAMILIES, nodeName } from '../../lab/network/plan.ts';
import type {
  LoadBalancerAddress,
  NumberRange,
  PodDeclaration,
  ServiceDeclaration,
  ServicePortDeclaration,
  SliceDeclaration,
} from '../scenario.ts';
import type { World } from '../world.ts';

const DEFAULT_POD_PORTS: readonly PodPort[] = [
  { name: 'tcp', port: 8080, protocol: 'TCP' },
  { name: 'udp', port: 8080, protocol: 'UDP' },
];

export async function createPod(
  world: World,
  name: string,
  declaration: PodDeclaration,
): Promise<void> {
  const pod = await world.lab.pods.run({
    namespace: world.namespace,
    name,
    nodeIndex: declaration.node,
    labels: { app: declaration.app ?? 'web' },
    ports: declaration.ports ?? DEFAULT_POD_PORTS,
    ready: declaration.ready ?? true,
    hostNetwork: declaration.hostNetwork ?? false,
    pathMtu: declaration.pathMtu,
    moreAddresses: declaration.moreAddresses,
    server: declaration.server ?? 'own',
    fault: declaration.fault,
  });
  world.pods.set(name, pod);
  if (declaration.ready === false) world.notReady.add(name);
}

export async function createService(
  world: World,
  name: string,
  declaration: ServiceDeclaration,
): Promise<void> {
  const { api } = world.lab;
  const selector = declaration.app === null ? {} : { selector: { app: declaration.app ?? name } };
  const created = await api.create<Service>(paths.services(world.namespace), {
    metadata: {
      name,
      labels: declaration.labels ?? {},
      annotations: declaration.annotations ?? {},
    },
    spec: {
      ...selector,
      ...familiesOf(declaration),
      ports: expandPorts(world, declaration.ports ?? [{ port: 80, targetPort: 'tcp' }]),
      ...(declaration.externalIPs
        ? { externalIPs: expandAddresses(world, declaration.externalIPs) }
        : {}),
      ...(declaration.fixedClusterIPs ? fixedClusterIps(world, name) : {}),
      ...declaration.spec,
    },
  });
  world.declarations.set(name, declaration);
  world.services.set(name, created);
  if (declaration.loadBalancer) await setLoadBalancer(world, name, declaration.loadBalancer);
}

function familiesOf(declaration: ServiceDeclaration): object {
  return declaration.spec?.['type'] === 'ExternalName'
    ? {}
    : { ipFamilyPolicy: 'RequireDualStack' };
}

function fixedClusterIps(world: World, name: string): object {
  const { ipv4, ipv6 } = world.fixedClusterIp(name);
  return { clusterIPs: [ipv4, ipv6], clusterIP: ipv4 };
}

export function expandPorts(world: World, ports: readonly ServicePortDeclaration[]): object[] {
  return ports.map(({ nodePort, numberOf, ...port }) => ({
    ...port,
    ...(numberOf === undefined ? {} : { port: world.nodePort(numberOf) }),
    ...(nodePort === undefined ? {} : { nodePort: world.nodePort(nodePort) }),
  }));
}

export function expandAddresses(world: World, names: readonly string[]): string[] {
  return names.flatMap((name) => FAMILIES.map((family) => world.address(name)[family]));
}

/** Writes the addresses into the status, as the cloud's controller would. */
export async function setLoadBalancer(
  world: World,
  service: string,
  addresses: readonly LoadBalancerAddress[],
): Promise<void> {
  const ingress = addresses.flatMap(({ name, ipMode }) =>
    FAMILIES.map((family) => ({
      ip: world.address(name)[family],
      ...(ipMode === undefined ? {} : { ipMode }),
    })),
  );
  const path = `${paths.service(world.namespace, service)}/status`;
  await world.lab.api.patch(path, { status: { loadBalancer: { ingress } } });
}

/** Creates or replaces the two slices, one a family, that a scenario wrote by hand. */
export async function writeSlices(
  world: World,
  name: string,
  declaration: SliceDeclaration,
): Promise<void> {
  const { api } = world.lab;
  await Promise.all(
    (declaration.families ?? FAMILIES).map(async (family) => {
      const sliceName = `${name}-${family}`;
      const path = paths.slice(world.namespace, sliceName);
      const body = sliceObject(world, { ...declaration, name: sliceName, family });
      const existing = await api.find(path);
      if (!existing) await api.create(paths.slices(world.namespace), body);
      else await api.replace(path, body);
    }),
  );
}

/** Deletes the slices of that name, in the families that it was written in. */
export async function deleteSlices(world: World, name: string): Promise<void> {
  const { api } = world.lab;
  const deleted = await Promise.all(
    FAMILIES.map(async (family) => {
      const path = paths.slice(world.namespace, `${name}-${family}`);
      if (!(await api.find(path))) return false;
      await api.delete(path);
      return true;
    }),
  );
  if (!deleted.includes(true)) throw new TypeError(`the scenario wrote no slice '${name}'`);
}

function sliceObject(
  world: World,
  slice: SliceDeclaration & { name: string; family: 'ipv4' | 'ipv6' },
): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: slice.name,
      labels: {
        'kubernetes.io/service-name': slice.service,
        'endpointslice.kubernetes.io/managed-by': 'conformance.fairlead',
        ...slice.labels,
      },
    },
    addressType: slice.family === 'ipv4' ? 'IPv4' : 'IPv6',
    ports: slice.ports.map((port) => ({ protocol: 'TCP', ...port })),
    endpoints: slice.endpoints.flatMap((endpoint) => {
      const pod = world.pod(endpoint.pod);
      const byName = (names: readonly string[]): object[] => names.map((name) => ({ name }));
      return addressesOf(pod, endpoint.numbers).map((address) => ({
        addresses: [address[slice.family]],
        conditions: endpoint.conditions ?? { ready: true },
        ...(endpoint.tellsNode === false ? {} : { nodeName: nodeName(pod.spec.nodeIndex) }),
        hints: {
          ...(endpoint.zoneHints ? { forZones: byName(endpoint.zoneHints) } : {}),
          ...(endpoint.nodeHints ? { forNodes: byName(endpoint.nodeHints) } : {}),
        },
      }));
    }),
  };
}

function addressesOf(pod: Pod, numbers: NumberRange | undefined): AddressPair[] {
  if (numbers === undefined) return [pod.address];
  return Array.from({ length: numbers.to - numbers.from + 1 }, (_, index) => {
    const address = pod.numbered(numbers.from + index);
    if (address === undefined) throw new TypeError(`pod ${pod.spec.name} has too few addresses`);
    return address;
  });
}
