import { join } from 'node:path';
import { paths } from '../../../lab/api/objects.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import type { Daemon } from '../../../lab/host/processes.ts';
import { run } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import type { Pod } from '../../../lab/kubelet/pods.ts';
import type { Lab } from '../../../lab/lab.ts';
import { outsiderAddress } from '../../../lab/network/plan.ts';
import { fairleadWith } from '../../../lab/proxies/fairlead.ts';
import type { FairleadProxy } from '../../../lab/proxies/fairlead-modes.ts';
import type { PagedRow } from '../../../src/agent/servers/row-parts.ts';
import { ServerError } from '../../../src/agent/servers/server-error.ts';
import { readRows, readStatus } from '../../../src/agent/servers/status-client.ts';
import type { AgentSnapshot } from '../../../src/agent/snapshot.ts';
import { STATUS_SOCKET } from '../../../src/config/run-folder.ts';
import { askAll } from './client.ts';
import { fingerprint, fingerprintDifference } from './fingerprint.ts';
import type { Got, NodeName, Question } from './question.ts';
import { CART, NAMESPACE, NODE_PORT, runPod, WEB, webService } from './shop.ts';

export const NODES: readonly NodeName[] = ['node1', 'node2'];
const SYNC_DEADLINE_MS = 60_000;
const HEALTHY_DEADLINE_MS = 30_000;

/** While the lab is healthy, each is answered. */
const PROBES: readonly Question[] = [
  { from: 'cart', to: `${WEB}:80`, times: 6 },
  { from: 'cart', to: `${WEB}:80/udp`, times: 6 },
  { from: 'host', to: `${WEB}:80`, times: 2 },
  { from: 'outside', to: `172.30.1.1:${NODE_PORT}`, times: 2 },
];

export interface SceneOptions {
  readonly lab: Lab;
  readonly proxy: FairleadProxy;
  /** The bundle: as it is shipped, and a command of it starts in a quarter of a second. */
  readonly program: readonly string[];
  readonly signal: AbortSignal;
}

/** Two nodes with agents, a Service with a pod on each, and clients of three kinds. */
export class IncidentScene implements AsyncDisposable {
  readonly lab: Lab;
  readonly proxy: FairleadProxy;
  readonly program: readonly string[];
  readonly signal: AbortSignal;
  #agents: ReadonlyMap<string, Daemon> = new Map();
  #cart: Pod | undefined;
  #healthyTraces: readonly string[] = [];

  constructor({ lab, proxy, program, signal }: SceneOptions) {
    this.lab = lab;
    this.proxy = proxy;
    this.program = program;
    this.signal = signal;
  }

  async prepare(): Promise<void> {
    const { lab } = this;
    await lab.api.create(paths.namespaces, { metadata: { name: NAMESPACE } });
    const [cart] = await Promise.all([
      runPod(lab, { name: CART, node: 1, labels: { app: 'cart' }, ports: [] }),
      runPod(lab, { name: 'web-1', node: 1, labels: { app: 'web' } }),
      runPod(lab, { name: 'web-2', node: 2, labels: { app: 'web' } }),
    ]);
    this.#cart = cart;
    await lab.api.create(paths.services(NAMESPACE), webService());
    const variant = fairleadWith(this.proxy.name, { program: this.program, env: {} });
    if (variant === undefined) throw new TypeError(`${this.proxy.name} is no proxy of Fairlead`);
    this.#agents = await lab.startProxies(variant);
    await this.untilServed('web', 2);
    await this.#untilAnswered();
    this.#healthyTraces = await fingerprint(lab);
  }

  get cart(): Pod {
    if (this.#cart === undefined) throw new Error('the scene is used before prepare()');
    return this.#cart;
  }

  agent(node: NodeName): Daemon {
    const agent = this.#agents.get(node);
    if (agent === undefined) throw new Error('the scene is used before prepare()');
    return agent;
  }

  folder(node: NodeName): string {
    return join(this.lab.folder, 'proxies', node);
  }

  runFolder(node: NodeName): string {
    return join(this.folder(node), 'run');
  }

  /** Runs a command in the network namespace of a host. */
  async on(role: string, ...argv: readonly [string, ...string[]]): Promise<string> {
    return await run(enterNamespace(this.lab.namespacePath(role), argv));
  }

  async nft(role: string, rules: string): Promise<void> {
    const argv = enterNamespace(this.lab.namespacePath(role), ['nft', '-f', '-']);
    await run(argv, { input: rules });
  }

  async ask(question: Question): Promise<Got[]> {
    const { lab } = this;
    const group = lab.socketGroup(1);
    switch (question.from) {
      case 'cart':
        return await askAll(question, { namespace: this.cart.namespacePath, group });
      case 'host':
        return await askAll(question, { namespace: lab.namespacePath('node1'), group });
      case 'outside': {
        const sourceAddress = outsiderAddress('client', 1).ipv4;
        return await askAll(question, { namespace: lab.namespacePath('client'), sourceAddress });
      }
    }
  }

  /** Resolves when both agents have written the Service, and know so many endpoints of it. */
  async untilServed(service: string, endpoints: number): Promise<void> {
    const isServed = (rows: readonly PagedRow[]): boolean =>
      rows.length > 0 && rows.every(({ candidates = [] }) => candidates.length === endpoints);
    await this.#untilRows(service, isServed);
  }

  async untilGone(service: string): Promise<void> {
    await this.#untilRows(service, (rows) => rows.length === 0);
  }

  async untilSynced(node: NodeName): Promise<void> {
    const isSynced = async (): Promise<boolean> => {
      const { conditions, rows } = await this.status(node);
      return conditions.firstSync.isTrue && rows.pending === 0 && rows.desired > 0;
    };
    await this.#until(() => onceItAnswers(isSynced), `the agent of ${node} to sync`);
  }

  async status(node: NodeName): Promise<AgentSnapshot> {
    return (await readStatus({ socketPath: this.#socket(node) })) as AgentSnapshot;
  }

  /** The lab is as it was before an incident: every client is answered, and nothing is left. */
  async untilHealthy(): Promise<void> {
    for (const node of NODES) await this.untilSynced(node);
    await this.#untilAnswered();
    let difference = '';
    const isTraceless = async (): Promise<boolean> => {
      difference = fingerprintDifference(this.#healthyTraces, await fingerprint(this.lab));
      return difference === '';
    };
    await until(isTraceless, {
      what: () => `nothing to be left of the incident: ${difference}`,
      deadlineMs: HEALTHY_DEADLINE_MS,
      signal: this.signal,
    });
  }

  /** Agents end before their lab: programs stay attached to its cgroups otherwise. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents.values()) await agent.stop();
  }

  async #untilAnswered(): Promise<void> {
    for (const probe of PROBES) {
      const isAnswered = async (): Promise<boolean> =>
        (await this.ask(probe)).every((got) => got === 'answered');
      await this.#until(isAnswered, `${probe.from} to be answered at ${probe.to}`);
    }
  }

  async #untilRows(service: string, holds: (rows: readonly PagedRow[]) => boolean): Promise<void> {
    for (const node of NODES) {
      const wanted = { service: `${NAMESPACE}/${service}`, withCandidates: true };
      const ask = { socketPath: this.#socket(node), ...wanted };
      const isSo = async (): Promise<boolean> => {
        if (!holds(await readRows(ask))) return false;
        return (await this.status(node)).rows.pending === 0;
      };
      await this.#until(() => onceItAnswers(isSo), `${service} in the rows of ${node}`);
    }
  }

  async #until(isSo: () => Promise<boolean>, what: string): Promise<void> {
    await until(isSo, { what, deadlineMs: SYNC_DEADLINE_MS, signal: this.signal });
  }

  #socket(node: NodeName): string {
    return join(this.runFolder(node), STATUS_SOCKET);
  }
}

/** An agent that is starting does not answer yet. */
async function onceItAnswers(isSo: () => Promise<boolean>): Promise<boolean> {
  try {
    return await isSo();
  } catch (error) {
    if (error instanceof ServerError) return false;
    throw error;
  }
}
