import type { Kind } from '../../cluster/kinds.ts';
import type { NodeObject } from '../../cluster/objects.ts';
import type { Source, SourceEvent } from '../../cluster/source.ts';
import type { NodeView } from '../../forwarding/model.ts';
import { ForwardingTable } from '../../forwarding/table.ts';

/** A cluster as one node sees it, kept up to date by a source. */
export class Observation {
  readonly table: ForwardingTable;
  /** Called after each event, for whoever wants to see changes as they come. */
  onChange: (() => void) | undefined;
  readonly #missing = new Set<Kind>(['service', 'slice', 'node', 'serviceCidr']);
  readonly #complete = Promise.withResolvers<void>();

  constructor(view: NodeView) {
    this.table = new ForwardingTable(view);
  }

  /** Resolves when every kind has been told completely once. */
  get complete(): Promise<void> {
    return this.#complete.promise;
  }

  /** Follows the source until the signal is aborted, or it has no more to tell. */
  async follow(source: Source, signal: AbortSignal): Promise<void> {
    await source.run((event) => {
      this.#take(event);
      this.onChange?.();
    }, signal);
  }

  #take(event: SourceEvent): void {
    if (event.type === 'synced') {
      this.#missing.delete(event.kind);
      if (this.#missing.size === 0) this.#complete.resolve();
    } else if (event.kind === 'service') {
      if (event.type === 'put') this.table.putService(event.object);
      else this.table.deleteService(event.key);
    } else if (event.kind === 'slice') {
      if (event.type === 'put') this.table.putSlice(event.object);
      else this.table.deleteSlice(event.key);
    } else if (event.kind === 'namespace') {
      if (event.type === 'put') this.table.putNamespace(event.object);
      else this.table.deleteNamespace(event.key);
    } else if (event.kind === 'node' && event.type === 'put') {
      this.#takeNode(event.object);
    }
  }

  #takeNode(node: NodeObject): void {
    const { view } = this.table;
    if (node.name !== view.nodeName) return;
    this.table.setView({ ...view, zone: node.zone, nodeIPs: node.addresses });
  }
}
