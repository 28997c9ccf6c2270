import type { EbpfChoice, NamespaceObject, ServiceObject } from '../cluster/objects.ts';

const NONE: ReadonlySet<string> = new Set();

/** Services that opt out of eBPF: by their own label, else by that of their namespace. */
export class EbpfChoices {
  readonly #byNamespace = new Map<string, EbpfChoice>();
  /** Changed since the last call. */
  readonly #changed = new Set<string>();

  putNamespace({ name, ebpf }: NamespaceObject): void {
    if (this.#byNamespace.get(name) === ebpf) return;
    if (ebpf === undefined) this.#byNamespace.delete(name);
    else this.#byNamespace.set(name, ebpf);
    this.#changed.add(name);
  }

  deleteNamespace(name: string): void {
    if (this.#byNamespace.delete(name)) this.#changed.add(name);
  }

  isLeftToPackets({ namespace, labels }: ServiceObject): boolean {
    return (labels.ebpf ?? this.#byNamespace.get(namespace)) === 'off';
  }

  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** Namespaces whose Services may have changed. */
  takeChanged(): ReadonlySet<string> {
    if (!this.hasChanged) return NONE;
    const changed = new Set(this.#changed);
    this.#changed.clear();
    return changed;
  }
}
