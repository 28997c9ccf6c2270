import { paths, type Service } from '../../lab/api/objects.ts';
import { until } from '../../lab/host/until.ts';
import type { Pod } from '../../lab/kubelet/pods.ts';
import type { Lab } from '../../lab/lab.ts';
import { FAMILIES, type Family, nodeName } from '../../lab/network/plan.ts';
import { nodeIndexes } from '../../lab/network/topology.ts';
import { httpGet } from '../../lab/servers/http-get.ts';

const NAMESPACE = 'barrier';
const NAME = 'conformance-barrier';
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
 *
 * The Service is in the namespace whose changes are waited for: a proxy may be fair between
 * namespaces, and would let one of another namespace overtake them.
 */
export class Barrier {
  readonly #lab: Lab;
  readonly #deadlineMs: number;
  readonly #gates = new Map<string, Gate>();
  #sides: Promise<readonly Pod[]> | undefined;

  constructor(lab: Lab, deadlineMs: number) {
    this.#lab = lab;
    this.#deadlineMs = deadlineMs;
  }

  /** Resolves when all that was in the API of this namespace when this was called is in every kernel. */
  async pass(namespace: string = NAMESPACE): Promise<void> {
    this.#sides ??= this.#open();
    const sides = await this.#sides;
    const known = this.#gates.get(namespace);
    const gate =
      known ?? new Gate({ lab: this.#lab, deadlineMs: this.#deadlineMs, namespace, sides });
    this.#gates.set(namespace, gate);
    await gate.pass();
  }

  /** Nobody waits for this namespace any more. */
  async leave(namespace: string): Promise<void> {
    const gate = this.#gates.get(namespace);
    this.#gates.delete(namespace);
    await gate?.remove();
  }

  /** The endpoints of all of them: slices name addresses, wherever the pods are. */
  async #open(): Promise<readonly Pod[]> {
    const { api, pods } = this.#lab;
    await api.create(paths.namespaces, { metadata: { name: NAMESPACE } });
    return await Promise.all(
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
  }
}

interface GateOptions {
  readonly lab: Lab;
  readonly deadlineMs: number;
  readonly namespace: string;
  readonly sides: readonly Pod[];
}

/** The barrier of one namespace. */
class Gate {
  readonly #options: GateOptions;
  #generation = 0;
  #service: Service | undefined;
  #running: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
  }

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

  async remove(): Promise<void> {
    const { lab, namespace } = this.#options;
    if (this.#service === undefined) return;
    await lab.api.delete(paths.service(namespace, NAME));
    for (const family of FAMILIES) await lab.api.delete(paths.slice(namespace, sliceName(family)));
  }

  async #round(): Promise<void> {
    const { lab, namespace } = this.#options;
    if (!this.#service) await this.#create();
    // Only from a common side is the other one news: a round that failed may have left a proxy
    // behind, and its old state would pass for the next.
    await this.#reachedEverywhere();
    this.#generation++;
    const ports = [{ port: BASE_PORT + this.#side, protocol: 'TCP' }];
    await Promise.all(
      FAMILIES.map((family) =>
        lab.api.patch(paths.slice(namespace, sliceName(family)), this.#content(family)),
      ),
    );
    await lab.api.patch(paths.service(namespace, NAME), { spec: { ports } });
    await this.#reachedEverywhere();
  }

  async #create(): Promise<void> {
    const { lab, namespace } = this.#options;
    this.#service = await lab.api.create<Service>(paths.services(namespace), {
      metadata: { name: NAME },
      spec: { ipFamilyPolicy: 'RequireDualStack', ports: [{ port: BASE_PORT }] },
    });
    for (const family of FAMILIES) {
      const slice = { ...sliceHead(family), ...this.#content(family) };
      await lab.api.create(paths.slices(namespace), slice);
    }
  }

  async #reachedEverywhere(): Promise<void> {
    await Promise.all(
      nodeIndexes(this.#options.lab).flatMap((index) =>
        (this.#service?.spec.clusterIPs ?? []).map((address) =>
          this.#reached({ node: nodeName(index), address, side: this.#side }),
        ),
      ),
    );
  }

  async #reached(question: { node: string; address: string; side: number }): Promise<void> {
    const origin = { namespace: this.#options.lab.namespacePath(question.node) };
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
        deadlineMs: this.#options.deadlineMs,
      },
    );
  }

  get #side(): number {
    return this.#generation % 2;
  }

  /** The part of the slice that changes with each round. */
  #content(family: Family): object {
    const address = this.#options.sides[this.#side]?.address[family];
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
    metadata: { name: sliceName(family), labels: { 'kubernetes.io/service-name': NAME } },
    addressType: family === 'ipv4' ? 'IPv4' : 'IPv6',
  };
}

function sliceName(family: Family): string {
  return `${NAME}-${family}`;
}
