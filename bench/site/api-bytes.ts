import { enterNamespace } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import type { Lab } from '../../lab/lab.ts';
import { nodeAddress } from '../../lab/network/plan.ts';

const TABLE = 'bench';

/** Addresses of nodes, as nft has them. */
const RECEIVERS = { 'first node': nodeAddress(1).ipv4, 'every node': '172.30.1.0/24' } as const;

/** What the API server sends to nodes, counted where the API server is: the nodes' own rules stay alone. */
export class ApiBytes {
  readonly #fabricPath: string;
  readonly #receivers: string;

  constructor(lab: Lab, to: keyof typeof RECEIVERS = 'first node') {
    this.#fabricPath = lab.namespacePath('fabric');
    this.#receivers = RECEIVERS[to];
  }

  async prepare(): Promise<void> {
    await this.#nft(
      ['-f', '-'],
      `table inet ${TABLE} {
  chain output {
    type filter hook output priority 0;
    tcp sport 6443 ip daddr ${this.#receivers} counter
  }
}`,
    );
  }

  async read(): Promise<number> {
    const listed = JSON.parse(await this.#nft(['-j', 'list', 'table', 'inet', TABLE])) as Listed;
    for (const { rule } of listed.nftables) {
      for (const { counter } of rule?.expr ?? []) if (counter) return counter.bytes;
    }
    throw new Error('nft lists no counter for the bytes of the API server');
  }

  async #nft(args: readonly string[], input = ''): Promise<string> {
    return await run(enterNamespace(this.#fabricPath, ['nft', ...args]), { input });
  }
}

interface Listed {
  readonly nftables: readonly {
    readonly rule?: { readonly expr: readonly { readonly counter?: { readonly bytes: number } }[] };
  }[];
}
