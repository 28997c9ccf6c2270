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
  /** When the API server sent it to somebody who only listens; 0: not seen, or not asked for. */
  readonly toldMs: number;
}

/** Where the slices are watched as well, beside the proxy. */
export interface WatchedApi {
  readonly server: string;
  readonly tokenFile: string;
  readonly authorityFile: string;
}

/**
 * Listens to what the kernel announces of the rules of a node, in a process of its own. Of thousands
 * of endpoints a connection meets one that is new once in thousands of times, so that packets could
 * not tell when it is in force.
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
    // It reads two sources and tells the time between them: one that waits for a CPU would tell its own.
    const first = ['nice', '-n', '-10'] as const;
    const argv = [...first, tool, 'watch', `--namespace=${namespacePath}`, ...toApi] as const;
    this.#dialogue = startDialogue(enterNamespace(namespacePath, [...argv]));
  }

  async expect(address: string): Promise<void> {
    await this.#dialogue.ask(`expect ${address}`);
  }

  /** The whole sight: nothing more was seen for so long. */
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
