import type {
  PodDeclaration,
  Scenario,
  ServiceDeclaration,
  SliceDeclaration,
} from '../../../conformance/scenario.ts';
import { AddressPool } from '../../../conformance/world.ts';
import { type AddressPair, FAMILIES, nodeName } from '../../../lab/network/plan.ts';
import type { ClusterObjects } from './rows.ts';

type Family = (typeof FAMILIES)[number];

const ADDRESS_TYPE: Readonly<Record<Family, string>> = { ipv4: 'IPv4', ipv6: 'IPv6' };
const DEFAULT_POD_PORTS = [
  { name: 'tcp', port: 8080, protocol: 'TCP' },
  { name: 'udp', port: 8080, protocol: 'UDP' },
];

/**
 * What the scenarios declare, all in one cluster, as the API server and its controllers would have
 * it: each in a namespace of its own, with addresses drawn for it.
 */
export function corpusObjects(corpus: readonly Scenario[]): ClusterObjects {
  const pool = new AddressPool();
  const parts = corpus.map((scenario, index) => new Declared(scenario, `s${index}`, pool));
  return {
    services: parts.flatMap((part) => part.services()),
    slices: parts.flatMap((part) => part.slices()),
  };
}

class Declared {
  readonly #scenario: Scenario;
  readonly #namespace: string;
  readonly #pool: AddressPool;
  readonly #drawn = new Map<string, AddressPair>();
  readonly #nodePorts = new Map<string, number>();

  constructor(...[scenario, namespace, pool]: [Scenario, string, AddressPool]) {
    this.#scenario = scenario;
    this.#namespace = namespace;
    this.#pool = pool;
  }

  services(): object[] {
    return Object.entries(this.#scenario.services ?? {}).map(([name, declaration]) => ({
      metadata: {
        namespace: this.#namespace,
        name,
        labels: declaration.labels ?? {},
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      spec: this.#spec(name, declaration),
      status: { loadBalancer: { ingress: this.#ingress(declaration) } },
    }));
  }

  slices(): object[] {
    const ofServices = Object.entries(this.#scenario.services ?? {})
      .filter(([, declaration]) => declaration.app !== null)
      .flatMap(([name, declaration]) =>
        FAMILIES.map((family) => this.#sliceOf(name, declaration, family)),
      );
    const byHand = Object.entries(this.#scenario.slices ?? {}).flatMap(([name, slice]) =>
      FAMILIES.map((family) => this.#handWritten(name, slice, family)),
    );
    return [...ofServices, ...byHand];
  }

  #spec(name: string, declaration: ServiceDeclaration): object {
    const { ipv4, ipv6 } = this.#address(`cluster-ip:${name}`);
    const hasNodePorts = ['NodePort', 'LoadBalancer'].includes(String(declaration.spec?.['type']));
    return {
      clusterIP: ipv4,
      clusterIPs: [ipv4, ipv6],
      ipFamilies: ['IPv4', 'IPv6'],
      externalIPs: (declaration.externalIPs ?? []).flatMap((each) => this.#both(each)),
      ports: portsOf(declaration).map(({ nodePort, ...port }) => ({
        protocol: 'TCP',
        ...port,
        ...(nodePort !== undefined || hasNodePorts
          ? { nodePort: this.#nodePort(nodePort ?? `${name}:${port.port}/${port.protocol}`) }
          : {}),
      })),
      ...declaration.spec,
    };
  }

  #ingress(declaration: ServiceDeclaration): object[] {
    return (declaration.loadBalancer ?? []).flatMap(({ name, ipMode }) =>
      this.#both(name).map((ip) => ({ ip, ipMode: ipMode ?? 'VIP' })),
    );
  }

  #sliceOf(...[name, declaration, family]: [string, ServiceDeclaration, Family]): object {
    const pods = Object.entries(this.#scenario.pods ?? {}).filter(
      ([, pod]) => (pod.app ?? 'web') === (declaration.app ?? name),
    );
    const podPorts = pods[0]?.[1].ports ?? DEFAULT_POD_PORTS;
    return {
      metadata: sliceMetadata(this.#namespace, { name: `${name}-${family}`, service: name }),
      addressType: ADDRESS_TYPE[family],
      ports: portsOf(declaration).map(({ name: portName = '', protocol = 'TCP', ...port }) => {
        const target = port.targetPort ?? port.port;
        const found = podPorts.find((each) => each.name === target)?.port;
        return { name: portName, protocol, port: typeof target === 'number' ? target : found };
      }),
      endpoints: pods.map(([pod, of]) => ({
        addresses: [this.#podAddress(pod, of)[family]],
        nodeName: nodeName(of.node),
        conditions: { ready: of.ready ?? true },
      })),
    };
  }

  #handWritten(...[name, slice, family]: [string, SliceDeclaration, Family]): object {
    return {
      metadata: sliceMetadata(this.#namespace, { ...slice, name: `${name}-${family}` }),
      addressType: ADDRESS_TYPE[family],
      ports: slice.ports.map((port) => ({ name: '', protocol: 'TCP', ...port })),
      endpoints: slice.endpoints.flatMap((endpoint) => {
        const pod = this.#scenario.pods?.[endpoint.pod];
        if (!pod) return [];
        return {
          addresses: [this.#podAddress(endpoint.pod, pod)[family]],
          conditions: endpoint.conditions ?? { ready: true },
          ...(endpoint.tellsNode === false ? {} : { nodeName: nodeName(pod.node) }),
        };
      }),
    };
  }

  #podAddress(name: string, { node }: PodDeclaration): AddressPair {
    const serial = Object.keys(this.#scenario.pods ?? {}).indexOf(name) + 1;
    return { ipv4: `10.244.${node}.${serial}`, ipv6: `fd00:244:${node}::${serial}` };
  }

  #both(name: string): string[] {
    return FAMILIES.map((family) => this.#address(name)[family]);
  }

  #address(name: string): AddressPair {
    const isClusterIp = name.startsWith('cluster-ip:');
    const drawn =
      this.#drawn.get(name) ?? (isClusterIp ? this.#pool.clusterIp() : this.#pool.external());
    this.#drawn.set(name, drawn);
    return drawn;
  }

  #nodePort(name: string): number {
    const drawn = this.#nodePorts.get(name) ?? this.#pool.nodePort();
    this.#nodePorts.set(name, drawn);
    return drawn;
  }
}

function portsOf(declaration: ServiceDeclaration) {
  return declaration.ports ?? [{ port: 80, targetPort: 'tcp' }];
}

function sliceMetadata(
  namespace: string,
  of: { name: string; service: string; labels?: Readonly<Record<string, string>> },
): object {
  const labels = { 'kubernetes.io/service-name': of.service, ...of.labels };
  return { namespace, name: of.name, labels };
}
