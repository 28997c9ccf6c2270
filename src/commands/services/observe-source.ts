import { unionOf } from '../../addresses/cidr.ts';
import type { Kind } from '../../cluster/object-kinds.ts';
import type { NodeObject } from '../../cluster/objects.ts';
import type { Source, SourceEvent } from '../../cluster/source.ts';
import type { HostState } from '../../forwarding/host-ports.ts';
import type { NodeView } from '../../forwarding/model.ts';
import { ForwardingTable } from '../../forwarding/table.ts';

/** The forwarding table of a node, updated by a source. */
export class Observation {
  readonly table: ForwardingTable;
  /** Called after each event. */
  onChange: (() => void) | undefined;
  readonly #missing = new Set<Kind>(['service', 'slice', 'node', 'serviceCidr']);
  readonly #host: HostState | undefined;
  readonly #serviceRanges = new Map<string, readonly string[]>();
  readonly #complete = Promise.withResolvers<void>();

  /** `host`: state of this machine, if it is the node; else only the Node object is known. */
  constructor(
    view: NodeView,
    expected: { readonly nodeObject?: 'expected' | 'none'; readonly host?: HostState } = {},
  ) {
    this.table = new ForwardingTable(view);
    this.#host = expected.host;
    if (expected.host) this.table.setHost(expected.host);
    if (expected.nodeObject === 'none') this.#missing.delete('node');
  }

  /** Resolves when the initial list of every kind is complete. */
  get complete(): Promise<void> {
    return this.#complete.promise;
  }

  /** Applies events until the signal is aborted or the source ends. */
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
    } else if (event.kind === 'node') {
      if (event.type === 'put') this.#takeNode(event.object);
    } else if (event.kind === 'namespace') {
      if (event.type === 'put') this.table.putNamespace(event.object);
      else this.table.deleteNamespace(event.key);
    } else {
      if (event.type === 'put') this.#serviceRanges.set(event.key, event.object.cidrs);
      else this.#serviceRanges.delete(event.key);
      const serviceRanges = unionOf([...this.#serviceRanges.values()].flat());
      this.table.setView({ ...this.table.view, serviceRanges });
    }
  }

  #takeNode(node: NodeObject): void {
    const { view } = this.table;
    if (node.name !== view.nodeName) return;
    this.table.setView({ ...view, zone: node.zone, nodeIPs: node.addresses });
    if (this.#host === undefined) this.table.setHost({ addresses: node.addresses, sockets: [] });
  }
}
