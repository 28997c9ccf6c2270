import { paths, type Service } from '../../lab/api/objects.ts';
import { until } from '../../lab/host/until.ts';
import type { Pod } from '../../lab/kubelet/pods.ts';
import type { Lab } from '../../lab/lab.ts';
import { FAMILIES, type Family, nodeName } from '../../lab/network/plan.ts';
import { nodeIndexes } from '../../lab/network/topology.ts';
import { httpGet } from '../../lab/servers/http-get.ts';

const NAMESPACE = 'barrier';
const BASE_PORT = 9000;
/** A SYN that leaves before the rule exists is lost: better a new one than to wait for it. */
const ATTEMPT_DEADLINE_MS = 400;

/**
 * Tells when every proxy has caught up with the API, by asking packets.
 *
 * A Service of the lab's own changes its port and its endpoints' port after each change of a
 * scenario. When the new port answers on every node in both families, the proxies have read both
 * watches past that point and written the result; a question that expects *nothing to happen*
 * can then be asked without guessing how long to wait.
 */
export class Barrier {
  readonly #lab: Lab;
  readonly #deadlineMs: number;
  #generation = 0;
  #sides: readonly Pod[] = [];
  #service: Service | undefined;
  #running: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;

  constructor(lab: Lab, deadlineMs: number) {
    this.#lab = lab;
    this.#deadlineMs = deadlineMs;
  }

  async #open(): Promise<void> {
    const { api, pods } = this.#lab;
    await api.create(paths.namespaces, { metadata: { name: NAMESPACE } });
    this.#sides = await Promise.all(
      [0, 1].map((side) =>
        pods.run({
          namespace: NAMESPACE,
          name: `side-${side}`,
          nodeIndex: 1,
          labels: {},
          ports: [{ port: BASE_PORT + side, protocol: 'TCP' }],
          ready: true,
          hostNetwork: false,
          server: 'own',
        }),
      ),
    );
    this.#service = await api.create<Service>(paths.services(NAMESPACE), {
      metadata: { name: 'barrier' },
      spec: { ipFamilyPolicy: 'RequireDualStack', ports: [{ port: BASE_PORT }] },
    });
    for (const family of FAMILIES) {
      await api.create(paths.slices(NAMESPACE), { ...sliceHead(family), ...this.#content(family) });
    }
  }

  /** Resolves when all that was in the API when this was called is in every kernel. */
  pass(): Promise<void> {
    // Whoever comes while a round is under way needs the next one: this one may be too old.
    this.#waiting ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#waiting = undefined;
        this.#running = this.#round();
        return this.#running;
      });
    return this.#waiting;
  }

  async #round(): Promise<void> {
    const { api } = this.#lab;
    if (!this.#service) await this.#open();
    // Only from a common side is the other one news: a round that failed may have left a proxy
    // behind, and its old state would pass for the next.
    await this.#reachedEverywhere();
    this.#generation++;
    const ports = [{ port: BASE_PORT + this.#side, protocol: 'TCP' }];
    await Promise.all(
      FAMILIES.map((family) =>
        api.patch(paths.slice(NAMESPACE, `barrier-${family}`), this.#content(family)),
      ),
    );
    await api.patch(paths.service(NAMESPACE, 'barrier'), { spec: { ports } });
    await this.#reachedEverywhere();
  }

  async #reachedEverywhere(): Promise<void> {
    await Promise.all(
      nodeIndexes(this.#lab).flatMap((index) =>
        (this.#service?.spec.clusterIPs ?? []).map((address) =>
          this.#reached({ node: nodeName(index), address, side: this.#side }),
        ),
      ),
    );
  }

  async #reached(question: { node: string; address: string; side: number }): Promise<void> {
    const origin = { namespace: this.#lab.namespacePath(question.node) };
    const to = {
      address: question.address,
      port: BASE_PORT + question.side,
      path: '/hostname',
      deadlineMs: ATTEMPT_DEADLINE_MS,
    };
    await until(
      async () => {
        const answer = await httpGet(origin, to).catch(() => undefined);
        return answer?.body === `side-${question.side}`;
      },
      {
        what: `the proxy of ${question.node} to apply the latest change (${question.address})`,
        deadlineMs: this.#deadlineMs,
      },
    );
  }

  get #side(): number {
    return this.#generation % 2;
  }

  /** The part of the slice that changes with each round. */
  #content(family: Family): object {
    const address = this.#sides[this.#side]?.address[family];
    return {
      ports: [{ name: '', port: BASE_PORT + this.#side, protocol: 'TCP' }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    };
  }
}

function sliceHead(family: Family): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `barrier-${family}`, labels: { 'kubernetes.io/service-name': 'barrier' } },
    addressType: family === 'ipv4' ? 'IPv4' : 'IPv6',
  };
}
