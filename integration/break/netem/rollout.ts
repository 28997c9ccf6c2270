import { setTimeout as delay } from 'node:timers/promises';
import { paths, type Service } from '../../../lab/api/objects.ts';
import type { Pod } from '../../../lab/kubelet/pods.ts';
import type { Lab } from '../../../lab/lab.ts';

const NAMESPACE = 'default';
const APP = 'rolled';
const REPLICAS = 3;
/** The way from the clients on node 1 leads over the uplinks of both nodes. */
const SERVING_NODE = 2;
export const POD_PORT = 8080;
export const SERVICE_PORT = 80;
const GRACE_SECONDS = 600;
/** Longer than three lost SYNs in a row: a pod that ends sooner fails direct connections too. */
const DRAIN_MS = 12_000;

/** A Deployment whose pods are replaced one by one, as a rolling update does. */
export class Rollout {
  readonly #lab: Lab;
  #serving: Pod[] = [];
  #made = 0;

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  async start(): Promise<Service> {
    for (let index = 0; index < REPLICAS; index++) await this.#add();
    return await this.#lab.api.create<Service>(paths.services(NAMESPACE), {
      metadata: { name: APP },
      spec: {
        type: 'NodePort',
        ipFamilyPolicy: 'RequireDualStack',
        selector: { app: APP },
        ports: [{ port: SERVICE_PORT, targetPort: POD_PORT }],
      },
    });
  }

  /** A pod that is ready and does not terminate, each in turn. */
  pod(turn: number): Pod {
    const pod = this.#serving[turn % this.#serving.length];
    if (pod === undefined) throw new TypeError('the rollout has no pods yet');
    return pod;
  }

  /** A new pod first, then the oldest terminates, serves what it has, and ends. */
  async replaceOldest(): Promise<void> {
    await this.#add();
    const [oldest, ...others] = this.#serving;
    this.#serving = others;
    await oldest?.terminate(GRACE_SECONDS);
    await delay(DRAIN_MS);
    await oldest?.remove();
  }

  async #add(): Promise<void> {
    const pod = await this.#lab.pods.run({
      namespace: NAMESPACE,
      name: `${APP}-${++this.#made}`,
      nodeIndex: SERVING_NODE,
      labels: { app: APP },
      ports: [{ port: POD_PORT, protocol: 'TCP' }],
      ready: true,
      hostNetwork: false,
      server: 'own',
    });
    this.#serving = [...this.#serving, pod];
  }
}
