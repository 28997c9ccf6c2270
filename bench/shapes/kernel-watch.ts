import { type Dialogue, startDialogue } from '../../lab/host/dialogue.ts';
import { enterNamespace } from '../../lab/host/namespaces.ts';

/** When the kernel announced rules with an address in them; milliseconds of the monotonic clock. */
export interface Sight {
  readonly firstMs: number;
  readonly lastMs: number;
  /** How often the address was in them. 0: never until the deadline. */
  readonly count: number;
  /** Announcements were lost. */
  readonly isOverrun: boolean;
  /** When the API server sent it to a client that only listens; 0: not seen, or not requested. */
  readonly toldMs: number;
}

/** Where the slices are watched as well, beside the proxy. */
export interface WatchedApi {
  readonly server: string;
  readonly tokenFile: string;
  readonly authorityFile: string;
}

/**
 * Receives the kernel's netlink notifications about the rules of a node, in a separate process. With
 * thousands of endpoints a connection reaches a new one once in thousands of times, so packets cannot
 * show when it is in force.
 */
export class KernelWatch implements Disposable {
  readonly #dialogue: Dialogue;

  constructor(of: {
    readonly tool: string;
    readonly namespacePath: string;
    readonly api?: WatchedApi;
  }) {
    const { tool, namespacePath, api } = of;
    const toApi =
      api === undefined
        ? []
        : [
            `--server=${api.server}`,
            `--token-file=${api.tokenFile}`,
            `--authority-file=${api.authorityFile}`,
          ];
    // It reports the time between two events: while it waits for a CPU, it would measure its own delay.
    const first = ['nice', '-n', '-10'] as const;
    const argv = [...first, tool, 'watch', `--namespace=${namespacePath}`, ...toApi] as const;
    this.#dialogue = startDialogue(enterNamespace(namespacePath, [...argv]));
  }

  async expect(address: string): Promise<void> {
    await this.#dialogue.ask(`expect ${address}`);
  }

  /** The whole sight, after a quiet period. */
  async sight(of: { readonly quietMs: number; readonly deadlineMs: number }): Promise<Sight> {
    return JSON.parse(await this.#dialogue.ask(`wait ${of.quietMs} ${of.deadlineMs}`)) as Sight;
  }

  [Symbol.dispose](): void {
    this.#dialogue[Symbol.dispose]();
  }
}

/** The clock of a sight. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
