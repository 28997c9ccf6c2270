import { join } from 'node:path';
import type { Daemon } from '../../lab/host/processes.ts';
import type { Lab } from '../../lab/lab.ts';
import { nodeName } from '../../lab/network/plan.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import { startProxy } from '../../lab/proxies/running.ts';
import { wipeNode } from '../site/wipe.ts';

/** The same proxy on the first nodes of a lab. */
export class Fleet implements AsyncDisposable {
  readonly #lab: Lab;
  readonly #variant: ProxyVariant;
  readonly #daemons: Daemon[] = [];

  constructor(lab: Lab, variant: ProxyVariant) {
    this.#lab = lab;
    this.#variant = variant;
  }

  get nodes(): readonly string[] {
    return this.#daemons.map((_, index) => nodeName(index + 1));
  }

  /** Starts as many as are missing, all at once; resolves when each has synced. */
  async growTo(machines: number): Promise<void> {
    const { folder, name, credentials } = this.#lab;
    const from = this.#daemons.length;
    const starts = Array.from({ length: machines - from }, (_, index) =>
      startProxy({
        lab: name,
        variant: this.#variant,
        labFolder: folder,
        logFolder: join(folder, 'logs'),
        nodeName: nodeName(from + index + 1),
        credentials,
        settings: {},
      }),
    );
    this.#daemons.push(...(await Promise.all(starts)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#daemons.map((daemon) => daemon.stop()));
    for (const node of this.nodes) {
      await wipeNode(this.#lab.namespacePath(node), { isLegacy: false });
    }
    this.#daemons.length = 0;
  }
}
