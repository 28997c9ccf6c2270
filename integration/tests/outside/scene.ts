import { join } from 'node:path';
import type { Outcome } from '../../../conformance/questions/outcome.ts';
import { StreamFlow } from '../../../conformance/questions/tcp.ts';
import { type EndpointSlice, paths, type Service } from '../../../lab/api/objects.ts';
import type { Daemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import { type Family, MACHINE } from '../../../lab/network/plan.ts';
import { surroundMachine } from '../../../lab/outside/hosts.ts';
import { configureOutside, outsideFiles, startOutside } from '../../../lab/outside/start.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';
import { readStatus } from '../../../src/agent/servers/status-client.ts';
import type { AgentSnapshot } from '../../../src/agent/snapshot.ts';
import { STATUS_SOCKET } from '../../../src/config/run-folder.ts';

/** The lab's hosts that ask: the machine itself, a container on it, and a neighbour on its LAN. */
export type Asker = 'machine' | 'container' | 'neighbour';

export const POD = 'web';
export const SERVICE_PORT = 80;
export const HEALTH_PORT = 10_256;

const NAMESPACE = 'default';
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

  private constructor(of: {
    lab: Lab;
    proxy: Daemon;
    service: Service;
  }) {
    this.lab = of.lab;
    this.proxy = of.proxy;
    this.#service = of.service;
    ({ runFolder: this.runFolder, configFile: this.configFile } = outsideFiles(of.lab.folder));
  }

  static async start(variantName: string): Promise<OutsideScene> {
    const lab = await startLab({ nodeCount: 1 });
    try {
      await surroundMachine(lab);
      const service = await declareService(lab);
      const proxy = await startOutside(lab, { variant: findProxy(variantName) });
      return new OutsideScene({ lab, proxy, service });
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      throw error;
    }
  }

  clusterIP(family: Family): string {
    const isWanted = (ip: string): boolean => ip.includes(':') === (family === 'ipv6');
    return this.#service.spec.clusterIPs?.find(isWanted) ?? '';
  }

  /** What one connection comes to: `answered by web`, `refused`, `silent`. */
  async ask(from: Asker, to: { address: string; port: number }): Promise<string> {
    const flow = StreamFlow.overTcp(this.#origin(from), to);
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
    await configureOutside(this, block);
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
      selector: { app: POD },
      ipFamilyPolicy: 'RequireDualStack',
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
