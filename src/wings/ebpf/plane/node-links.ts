import type { NodeFacts } from '../../../dataplanes/contract.ts';
import type { MachineLink } from '../../../linux/route/link-codec.ts';
import type { PacketOptions } from './ebpf-options.ts';
import { servedInterfaces } from './maps/interfaces.ts';

/** The interfaces of the machine, where packets are met at them. */
export class NodeLinks {
  readonly #packets: PacketOptions | undefined;
  #links: readonly MachineLink[] | undefined;
  /** Number of reports of the watch. */
  #told = 0;

  constructor(packets: PacketOptions | undefined) {
    this.#packets = packets;
  }

  /** Undefined: they do not matter. */
  get current(): readonly MachineLink[] | undefined {
    return this.#links;
  }

  /** A report of the watch meanwhile is newer than the list. */
  async read(): Promise<void> {
    const told = this.#told;
    const links = await this.#packets?.listLinks();
    if (told === this.#told) this.#links = links;
  }

  /** Numbers of those that are to be served. */
  served({ clientInterfaces }: Pick<NodeFacts, 'clientInterfaces'>): readonly number[] {
    return servedInterfaces(this.#links ?? [], this.#packets?.interfaces ?? [], clientInterfaces);
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
      this.#told += 1;
      onChange({ before, now });
    }, signal);
  }
}
