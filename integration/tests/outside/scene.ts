import { join } from 'node:path';
import type { Outcome } from '../../../conformance/questions/outcome.ts';
import { TcpFlow } from '../../../conformance/questions/tcp.ts';
import { type EndpointSlice, paths, type Service } from '../../../lab/api/objects.ts';
import type { Daemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import {
  type AddressPair,
  FAMILIES,
  type Family,
  MACHINE,
  outsiderAddress,
} from '../../../lab/network/plan.ts';
import { surroundMachine } from '../../../lab/outside/hosts.ts';
import {
  configureOutside,
  type OutsideFiles,
  outsideFiles,
  startOutside,
} from '../../../lab/outside/start.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
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

const NAMESPACE = 'default';
const MACHINE_ADDRESS = outsiderAddress(MACHINE);
/** The neighbour's own addresses, at which a real server answers: one of each is claimed by a Service. */
export const CLAIMED_AS_EXTERNAL: AddressPair = outsiderAddress('client');
export const CLAIMED_AS_LOAD_BALANCER: AddressPair = outsiderAddress('client', 1);
const DEADLINE_MS = 60_000;

/**
 * A machine beside a cluster of one node, with `fairlead run` on it and forwarding switched on as on
 * every Docker host. A neighbour sends what is for Services to it; a container sits behind its bridge.
 */
export class OutsideScene implements AsyncDisposable {
  readonly lab: Lab;
  readonly proxy: Daemon;
  readonly #files: OutsideFiles;
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
    this.#files = outsideFiles(of.lab.folder);
  }

  static async start(variantName: string): Promise<OutsideScene> {
    const lab = await startLab({ nodeCount: 1 });
    try {
      await surroundMachine(lab);
      const realServer = await startNetexec({
        namespacePath: lab.namespacePath('client'),
        hostname: REAL_SERVER,
        ports: [{ port: SERVICE_PORT, protocol: 'TCP' }],
      });
      const service = await declareService(lab);
      const proxy = await startOutside(lab, { variant: findProxy(variantName) });
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
    return MACHINE_ADDRESS[family];
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
    const socketPath = join(this.#files.runFolder, STATUS_SOCKET);
    return (await readStatus({ socketPath })) as AgentSnapshot;
  }

  /** Changes the block `fairlead` of the file, while the proxy runs. */
  async configure(block: object): Promise<void> {
    await configureOutside(this.#files, block);
  }

  async untilAnswers(expected: string, ask: () => Promise<string>): Promise<void> {
    await until(async () => (await ask()) === expected, {
      what: `the answer "${expected}"`,
      deadlineMs: DEADLINE_MS,
    });
  }

  #origin(from: Asker): { namespace: string; group?: string | undefined; sourceAddress?: string } {
    const role = from === 'neighbour' ? 'client' : from;
    // The neighbour is another machine.
    const group = from === 'neighbour' ? undefined : this.lab.socketGroup(MACHINE);
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
