import { randomBytes } from 'node:crypto';
import { enterNamespace, namespacePath } from '../../host/namespaces.ts';
import { run } from '../../host/run.ts';
import { removeLab } from '../../lab.ts';
import { startNetexec } from '../../servers/netexec.ts';
import { type AddressPair, podAddress } from '../plan.ts';
import { plugPod } from '../pod-link.ts';
import { buildTopology } from '../topology.ts';
import { findNetwork } from '../variants/registry.ts';

export const BARE_PORT = 8080;

export interface BareOptions {
  readonly network: string;
  /** The second pod. */
  readonly pathMtu?: number;
  /** Second pod: each of its addresses answers with a name of its own. */
  readonly block?: AddressPair;
}

/** The hosts of a lab with a pod on each of two nodes, and nothing else: no API server, no proxy. */
export class BareNetwork implements AsyncDisposable {
  readonly #lab = `t${randomBytes(3).toString('hex')}`;
  readonly #stack = new AsyncDisposableStack();

  static async build(options: BareOptions): Promise<BareNetwork> {
    const bare = new BareNetwork();
    try {
      await bare.#build(options);
    } catch (error) {
      await bare[Symbol.asyncDispose]();
      throw error;
    }
    return bare;
  }

  path(role: string): string {
    return namespacePath({ lab: this.#lab, role });
  }

  podAddress(nodeIndex: number): AddressPair {
    return podAddress(nodeIndex, 2);
  }

  /** Loads rules on a node. */
  async nft(role: string, ruleset: string): Promise<void> {
    await run(enterNamespace(this.path(role), ['nft', '-f', '-']), { input: `${ruleset}\n` });
  }

  /** What each host sent, received and dropped, to see in a failed test where a packet was lost. */
  async counters(): Promise<string> {
    const hosts = ['pod1', 'node1', 'node2', 'pod2'].map(async (role) => {
      const shown = await run(enterNamespace(this.path(role), ['ip', '-s', 'link']));
      return `${role}:\n${shown}`;
    });
    return (await Promise.all(hosts)).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async #build({ network: name, pathMtu, block }: BareOptions): Promise<void> {
    const network = findNetwork(name);
    const common = { lab: this.#lab, podNetwork: 'routed', network } as const;
    this.#stack.defer(() => removeLab(this.#lab));
    await buildTopology({ ...common, nodeCount: 2, iptables: 'xtables-nft-multi' });
    for (const nodeIndex of [1, 2]) {
      const role = `pod${nodeIndex}`;
      const address = this.podAddress(nodeIndex);
      const more = nodeIndex === 2 ? { pathMtu, block } : {};
      await plugPod({ ...common, ...more, nodeIndex, role, linkName: 'pod2', address });
      const ports = [
        { port: BARE_PORT, protocol: 'TCP' },
        { port: BARE_PORT, protocol: 'UDP' },
      ] as const;
      const hostname = nodeIndex === 2 && block ? (at: string): string => at : role;
      const namespace = this.path(role);
      this.#stack.use(await startNetexec({ namespacePath: namespace, hostname, ports }));
    }
  }
}
