import type { MachineLink } from '../../linux/route/link-codec.ts';
import { servedInterfaces } from './interfaces.ts';
import type { PacketOptions } from './options.ts';

/** The interfaces of the machine, where packets are met at them. */
export class NodeLinks {
  readonly #packets: PacketOptions | undefined;
  #links: readonly MachineLink[] | undefined;

  constructor(packets: PacketOptions | undefined) {
    this.#packets = packets;
  }

  /** Undefined: they do not matter. */
  get current(): readonly MachineLink[] | undefined {
    return this.#links;
  }

  /** Once: from then on a watch tells, and a list may be older than what it has told. */
  async read(): Promise<void> {
    this.#links ??= await this.#packets?.listLinks();
  }

  /** Numbers of those that are to be served. */
  served(): readonly number[] {
    return servedInterfaces(this.#links ?? [], this.#packets?.interfaces ?? []);
  }

  async watch(
    onChange: (links: {
      readonly before: readonly MachineLink[];
      readonly now: readonly MachineLink[];
    }) => void,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#packets?.watchLinks((now) => {
      const before = this.#links ?? [];
      this.#links = now;
      onChange({ before, now });
    }, signal);
  }
}
