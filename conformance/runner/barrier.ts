import { paths } from '../../lab/api/objects.ts';
import type { Pod } from '../../lab/kubelet/pods.ts';
import type { Lab } from '../../lab/lab.ts';
import { nodeName } from '../../lab/network/plan.ts';
import { nodeIndexes } from '../../lab/network/topology.ts';
import { BARRIER_PORT, Gate, type GateOptions, type Round } from './gate.ts';
import { NodeGate } from './node-gate.ts';

const NAMESPACE = 'barrier';

/**
 * Detects, by packets, that every proxy has caught up with the API.
 *
 * A Service of the lab's own changes its port and its endpoints' port after each change of a
 * scenario. When the new port answers on every host with a proxy, in both families, the proxies have read both
 * watches past that point and written the result; a question that expects *nothing to happen*
 * can then be asked without guessing how long to wait.
 *
 * The Service is in the namespace whose changes are waited for: a proxy may be fair between
 * namespaces, and would let one of another namespace overtake them.
 *
 * Nodes have a watch of their own, which this does not cover: `passNodes`.
 */
export class Barrier {
  readonly #lab: Lab;
  readonly #deadlineMs: number;
  readonly #hosts: readonly string[];
  readonly #gates = new Map<string, Gate>();
  #sides: Promise<readonly Pod[]> | undefined;
  #nodeGate: NodeGate | undefined;

  /** Hosts are those that a proxy runs on: every node when not given. */
  constructor(lab: Lab, deadlineMs: number, hosts = nodeIndexes(lab).map(nodeName)) {
    this.#lab = lab;
    this.#deadlineMs = deadlineMs;
    this.#hosts = hosts;
  }

  /** Resolves when all that was in the API of this namespace when this was called is in every kernel. */
  async pass(namespace: string = NAMESPACE): Promise<void> {
    const gate = await this.#gate(namespace);
    await gate.pass();
  }

  /** Resolves when every proxy has heard of all changes of Nodes; other scenarios must not run. */
  async passNodes(): Promise<void> {
    this.#nodeGate ??= new NodeGate(await this.#options(NAMESPACE));
    await this.#nodeGate.pass();
  }

  /** Measures one round beside a bare watcher; the barrier must not be used otherwise meanwhile. */
  async measure(signal: AbortSignal): Promise<Round> {
    const gate = await this.#gate(NAMESPACE);
    return await gate.measure(signal);
  }

  /** Nobody waits for this namespace any more. */
  async leave(namespace: string): Promise<void> {
    const gate = this.#gates.get(namespace);
    this.#gates.delete(namespace);
    await gate?.remove();
  }

  async #gate(namespace: string): Promise<Gate> {
    const options = await this.#options(namespace);
    const gate = this.#gates.get(namespace) ?? new Gate(options);
    this.#gates.set(namespace, gate);
    return gate;
  }

  async #options(namespace: string): Promise<GateOptions> {
    const sides = await this.#openSides();
    return {
      lab: this.#lab,
      deadlineMs: this.#deadlineMs,
      hosts: this.#hosts,
      namespace,
      sides,
    };
  }

  #openSides(): Promise<readonly Pod[]> {
    this.#sides ??= this.#open();
    return this.#sides;
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
          ports: [{ port: BARRIER_PORT + side, protocol: 'TCP' }],
          ready: true,
          hostNetwork: false,
          server: 'own',
        }),
      ),
    );
  }
}
