import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import { observeNode } from '../../../../src/commands/desired.ts';
import { knownAddresses } from '../../../../src/commands/run/known-addresses.ts';
import { type LoadedConfig, loadConfig } from '../../../../src/config/load-config.ts';
import type { Desired } from '../../../../src/dataplanes/contract.ts';
import { openNetlink } from '../../../../src/linux/netlink/netlink-socket.ts';
import { NftConnection } from '../../../../src/linux/nftables/nft-connection.ts';
import { NETLINK_NETFILTER } from '../../../../src/linux/nftables/nftables-protocol.ts';
import { modeNamed } from '../../../../src/modes/mode-registry.ts';
import { OwnProxy } from './own-proxy.ts';
import { insertPlanned, readPlanned } from './planned-flows.ts';
import type { Questions } from './questions.ts';

type Answers = {
  readonly [Q in keyof Questions]: (
    asked: Questions[Q]['asked'],
  ) => Promise<Questions[Q]['answer']>;
};

/** Started inside the network of a node: answers each line with a line until there are no more. */
export async function answerInside(configPath: string, runFolder: string): Promise<void> {
  const config = await loadConfig(new Map([['config', [configPath]]]));
  const inside = new Inside(config, runFolder);
  const answers = inside.answers() as Record<string, (asked: object) => Promise<unknown>>;
  for await (const line of createInterface(process.stdin)) {
    const { question, ...asked } = JSON.parse(line) as { question: string };
    try {
      const answer = await answers[question]?.(asked);
      console.log(JSON.stringify({ answer: answer ?? null }));
    } catch (error) {
      // The caller gets the error; this process continues.
      console.log(JSON.stringify({ error: String(error) }));
    }
  }
  await inside.end();
}

class Inside {
  readonly #config: LoadedConfig;
  readonly #runFolder: string;
  #desired: Desired | undefined;
  #proxy: OwnProxy | undefined;

  constructor(config: LoadedConfig, runFolder: string) {
    this.#config = config;
    this.#runFolder = runFolder;
  }

  answers(): Answers {
    return {
      diff: async () => {
        this.#desired = await this.#readDesired();
        return await this.#diff();
      },
      diffAgain: () => this.#diff(),
      generation: async () => {
        using connection = new NftConnection(openNetlink({ protocol: NETLINK_NETFILTER }));
        return await connection.generation();
      },
      insertFlows: ({ plan }) => insertPlanned(plan),
      flows: ({ plan }) => readPlanned(plan),
      startProxy: async ({ failures }) => {
        this.#proxy = new OwnProxy(this.#config, failures);
        await this.#proxy.start();
        return null;
      },
      stopProxy: async () => {
        await this.end();
        return null;
      },
      proxy: async ({ service }) => {
        if (this.#proxy === undefined) throw new Error('no proxy runs in this process');
        return this.#proxy.report(service);
      },
    };
  }

  async end(): Promise<void> {
    await this.#proxy?.stop();
    this.#proxy = undefined;
  }

  async #readDesired(): Promise<Desired> {
    const { settings } = this.#config;
    const { kubeconfigPath } = settings.api;
    const { intake, stop } = await observeNode({
      settings,
      nodeName: settings.nodeName ?? hostname().toLowerCase(),
      from: kubeconfigPath === undefined ? {} : { kubeconfig: kubeconfigPath },
      machine: { addresses: knownAddresses() },
    });
    await stop();
    const { table, facts } = intake;
    return { facts, rows: table.rows() };
  }

  async #diff(): Promise<string[]> {
    if (this.#desired === undefined)
      throw new Error('asked for differences before the first comparison');
    const { mode, ebpf, ipvs } = this.#config.settings;
    const differences = await (await modeNamed(mode))
      .open({ ebpf, ipvs, runFolder: this.#runFolder })
      .plane.diff(this.#desired);
    return differences.map(({ kind, object }) => `${kind} ${object}`);
  }
}
