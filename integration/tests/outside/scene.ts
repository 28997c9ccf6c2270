import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcome } from '../../../conformance/questions/outcome.ts';
import { TcpFlow } from '../../../conformance/questions/tcp.ts';
import { type EndpointSlice, paths, type Service } from '../../../lab/api/objects.ts';
import { ipBatch, namespaceName, setSysctls } from '../../../lab/host/namespaces.ts';
import type { Daemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import {
  type AddressPair,
  FAMILIES,
  type Family,
  outsiderAddress,
  SERVICE_CIDR,
} from '../../../lab/network/plan.ts';
import type { ProxyVariant } from '../../../lab/proxies/contract.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { startProxy } from '../../../lab/proxies/running.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';
import { startNetexec } from '../../../lab/servers/netexec.ts';

import { readStatus } from '../../../src/agent/servers/status-client.ts';
import type { AgentSnapshot } from '../../../src/agent/snapshot.ts';
import { STATUS_SOCKET } from '../../../src/commands/run/folder.ts';

/** The lab's hosts that ask: the machine itself, a container on it, and a neighbour on its LAN. */
export type Asker = 'machine' | 'container' | 'neighbour';

export const POD = 'web';
export const REAL_SERVER = 'real-server';
export const SERVICE_PORT = 80;
export const HEALTH_PORT = 10_256;
export const SERVICE_HEALTH_PORT = 31_999;
/** As docker has it. */
export const BRIDGE = 'docker0';

const NAMESPACE = 'default';
const MACHINE: AddressPair = outsiderAddress('machine');
/** The neighbour's own addresses, at which a real server answers: one of each is claimed by a Service. */
export const CLAIMED_AS_EXTERNAL: AddressPair = outsiderAddress('client');
export const CLAIMED_AS_LOAD_BALANCER: AddressPair = outsiderAddress('client', 1);
const CONTAINERS: AddressPair = { ipv4: '172.17.0.0/16', ipv6: 'fd00:17::/64' };
const GATEWAY: AddressPair = { ipv4: '172.17.0.1', ipv6: 'fd00:17::1' };
const CONTAINER: AddressPair = { ipv4: '172.17.0.2', ipv6: 'fd00:17::2' };
const DEADLINE_MS = 60_000;

/**
 * A machine beside a cluster of one node, with `fairlead run` on it and forwarding switched on as on
 * every Docker host. A neighbour sends what is for Services to it; a container sits behind its bridge.
 */
export class OutsideScene implements AsyncDisposable {
  readonly lab: Lab;
  readonly proxy: Daemon;
  readonly runFolder: string;
  readonly configFile: string;
  readonly #service: Service;
  readonly #realServer: AsyncDisposable;

  private constructor(of: {
    lab: Lab;
    proxy: Daemon;
    service: Service;
    realServer: AsyncDisposable;
  }) {
    this.lab = of.lab;
    this.proxy = of.proxy;
    this.#service = of.service;
    this.#realServer = of.realServer;
    const folder = join(of.lab.folder, 'proxies', 'machine');
    this.runFolder = join(folder, 'run');
    this.configFile = join(folder, 'fairlead.json');
  }

  static async start(variantName: string, more: object = {}): Promise<OutsideScene> {
    const lab = await startLab({ nodeCount: 1 });
    try {
      await buildHosts(lab);
      const realServer = await startNetexec({
        namespacePath: lab.namespacePath('client'),
        hostname: REAL_SERVER,
        ports: [{ port: SERVICE_PORT, protocol: 'TCP' }],
      });
      const service = await declareService(lab);
      const proxy = await startOutside(lab, { variant: findProxy(variantName), more });
      return new OutsideScene({ lab, proxy, service, realServer });
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      throw error;
    }
  }

  clusterIP(family: Family): string {
    const isWanted = (ip: string): boolean => ip.includes(':') === (family === 'ipv6');
    return this.#service.spec.clusterIPs?.find(isWanted) ?? '';
  }

  get nodePort(): number {
    return this.#service.spec.ports?.[0]?.nodePort ?? 0;
  }

  machineAddress(family: Family): string {
    return MACHINE[family];
  }

  /** What one connection comes to: `answered by web`, `refused`, `silent`. */
  async ask(from: Asker, to: { address: string; port: number }): Promise<string> {
    const flow = new TcpFlow(this.#origin(from), to);
    try {
      return inWords(await flow.ask());
    } finally {
      flow.close();
    }
  }

  async status(from: Asker, to: { address: string; port: number; path: string }): Promise<number> {
    return (await httpGet(this.#origin(from), to)).status;
  }

  async snapshot(): Promise<AgentSnapshot> {
    const socketPath = join(this.runFolder, STATUS_SOCKET);
    return (await readStatus({ socketPath })) as AgentSnapshot;
  }

  /** Changes the block `fairlead` of the file, while the proxy runs. */
  async configure(block: object): Promise<void> {
    const written = JSON.parse(await readFile(this.configFile, 'utf8')) as Configuration;
    const changed = { ...written, fairlead: { ...written.fairlead, ...block } };
    await writeFile(this.configFile, JSON.stringify(changed));
  }

  async untilAnswers(expected: string, ask: () => Promise<string>): Promise<void> {
    await until(async () => (await ask()) === expected, {
      what: `the answer "${expected}"`,
      deadlineMs: DEADLINE_MS,
    });
  }

  #origin(from: Asker): { namespace: string; group?: string | undefined; sourceAddress?: string } {
    const role = from === 'neighbour' ? 'client' : from;
    // The group of the lab's only node, on which no proxy runs; the neighbour is another machine.
    const group = from === 'neighbour' ? undefined : this.lab.socketGroup(1);
    return { namespace: this.lab.namespacePath(role), group };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy.stop();
    await this.#realServer[Symbol.asyncDispose]();
    await this.lab[Symbol.asyncDispose]();
  }
}

function inWords(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'answered':
      return `answered by ${outcome.by}`;
    case 'refused':
    case 'silent':
      return outcome.kind;
    default:
      return JSON.stringify(outcome);
  }
}

interface Configuration {
  readonly fairlead?: object;
}

async function buildHosts(lab: Lab): Promise<void> {
  const [machine, container, client, node] = ['machine', 'container', 'client', 'node1'].map(
    (role) => namespaceName({ lab: lab.name, role }),
  );
  await ipBatch([`netns add ${container}`]);
  await ipBatch(
    [
      `link add ${BRIDGE} type bridge`,
      `link set ${BRIDGE} up`,
      `addr add ${GATEWAY.ipv4}/16 dev ${BRIDGE}`,
      `addr add ${GATEWAY.ipv6}/64 dev ${BRIDGE} nodad`,
      `link add vethc type veth peer name eth0 netns ${container}`,
      `link set vethc master ${BRIDGE} up`,
    ],
    machine,
  );
  await ipBatch(
    [
      'link set lo up',
      'link set eth0 up',
      `addr add ${CONTAINER.ipv4}/16 dev eth0`,
      `addr add ${CONTAINER.ipv6}/64 dev eth0 nodad`,
      ...FAMILIES.map((family) => `route add default via ${GATEWAY[family]}`),
    ],
    container,
  );
  await ipBatch(
    FAMILIES.map((family) => `route add ${SERVICE_CIDR[family]} via ${MACHINE[family]}`),
    client,
  );
  // Answers find back without masquerading, or a container that is served by mistake would not show.
  await ipBatch(
    FAMILIES.map((family) => `route add ${CONTAINERS[family]} via ${MACHINE[family]}`),
    node,
  );
  await setSysctls(lab.namespacePath('machine'), ['net.ipv4.ip_forward=1']);
}

/** One has every kind of address that a Service can have, the other a port at which load balancers ask. */
async function declareService(lab: Lab): Promise<Service> {
  await lab.pods.run({
    namespace: NAMESPACE,
    name: POD,
    nodeIndex: 1,
    labels: { app: POD },
    ports: [{ port: 8080, protocol: 'TCP' }],
    ready: true,
    hostNetwork: false,
    server: 'own',
  });
  const service = await lab.api.create<Service>(paths.services(NAMESPACE), {
    metadata: { name: POD },
    spec: {
      type: 'LoadBalancer',
      selector: { app: POD },
      ipFamilyPolicy: 'RequireDualStack',
      externalIPs: FAMILIES.map((family) => CLAIMED_AS_EXTERNAL[family]),
      ports: [{ port: SERVICE_PORT, targetPort: 8080, protocol: 'TCP' }],
    },
  });
  const ingress = FAMILIES.map((family) => ({ ip: CLAIMED_AS_LOAD_BALANCER[family] }));
  await lab.api.patch(`${paths.service(NAMESPACE, POD)}/status`, {
    status: { loadBalancer: { ingress } },
  });
  await lab.api.create<Service>(paths.services(NAMESPACE), {
    metadata: { name: 'local' },
    spec: {
      type: 'LoadBalancer',
      selector: { app: POD },
      ipFamilyPolicy: 'RequireDualStack',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: SERVICE_HEALTH_PORT,
      ports: [{ port: SERVICE_PORT, targetPort: 8080, protocol: 'TCP' }],
    },
  });
  await lab.slices.until(NAMESPACE, {
    what: 'the pod in both families',
    holds: (slices) =>
      ['IPv4', 'IPv6'].every((type) => slices.some((slice) => isReady(slice, type))),
  });
  return service;
}

function isReady({ metadata, addressType, endpoints }: EndpointSlice, type: string): boolean {
  const isOfService = metadata.labels?.['kubernetes.io/service-name'] === POD;
  return isOfService && addressType === type && (endpoints ?? []).length > 0;
}

async function startOutside(
  lab: Lab,
  of: { variant: ProxyVariant; more: object },
): Promise<Daemon> {
  if (of.variant.servesSockets) await lab.makeSocketPlaces();
  return await startProxy({
    lab: lab.name,
    variant: withoutNode(of.variant, of.more),
    nodeName: 'machine',
    parts: lab.parts,
    credentials: lab.credentials,
    labFolder: lab.folder,
    logFolder: join(lab.folder, 'logs'),
    settings: {},
    sockets: lab.socketPlace(1),
  });
}

/** The same program with the same file, and one more line in it. */
function withoutNode(variant: ProxyVariant, more: object): ProxyVariant {
  return {
    ...variant,
    async prepare(place) {
      const command = await variant.prepare(place);
      const file = join(place.folder, 'fairlead.json');
      const written = JSON.parse(await readFile(file, 'utf8')) as Configuration;
      const fairlead = { ...written.fairlead, nodeObject: 'none' };
      await writeFile(file, JSON.stringify({ ...written, fairlead, ...more }));
      return command;
    },
  };
}
