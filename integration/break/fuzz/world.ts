import type { ClusterError } from '../../../src/cluster/cluster-error.ts';
import { Mirror } from '../../../src/cluster/mirror.ts';
import { Interner } from '../../../src/cluster/narrow/interner.ts';
import type { Kind, ObjectKey, ObjectOfKind } from '../../../src/cluster/object-kinds.ts';
import type { ServiceObject, SliceObject } from '../../../src/cluster/objects.ts';
import type { SourceEvent } from '../../../src/cluster/source.ts';
import type { WatchEvent } from '../../../src/cluster/watch-event.ts';
import type { Encoding, EventReader } from '../../../src/cluster/wire/encoding.ts';
import { Observation } from '../../../src/commands/services/observe-source.ts';
import type { Forwarding, ServicePortKey } from '../../../src/forwarding/model.ts';
import type { Change, ForwardingTable } from '../../../src/forwarding/table.ts';
import { unknownNode } from '../../../src/forwarding/testing/unknown-node.ts';
import { WIRES } from './encodings.ts';
import type { Sabotage } from './planted.ts';

export const KINDS: readonly Kind[] = ['service', 'slice', 'node', 'serviceCidr', 'namespace'];
const NODE_NAME = 'node1';

/**
 * The path of an object as in production: mirrors receive the API's events, an observation writes
 * them to its table, a consumer takes the changes. It lives through a whole run, as a proxy does.
 */
export class World {
  readonly interner = new Interner();
  readonly observation = new Observation(unknownNode(NODE_NAME));
  /** Objects received and not deleted since: the input of a new table. */
  readonly told: { readonly [K in Kind]: Map<ObjectKey, ObjectOfKind[K]> } = {
    service: new Map(),
    slice: new Map(),
    node: new Map(),
    serviceCidr: new Map(),
    namespace: new Map(),
  };
  /** The state of a consumer that applied every change. */
  readonly applied = new Map<ServicePortKey, Forwarding>();
  readonly sabotage: Sabotage;
  readonly #mirrors: { readonly [K in Kind]: Mirror<K> };
  readonly #encoding: Encoding;
  readonly #readers: { [K in Kind]?: EventReader } = {};
  readonly #end = new AbortController();
  #emit: ((event: SourceEvent) => void) | undefined;

  constructor(sabotage: Sabotage) {
    this.sabotage = sabotage;
    const { encoding } = WIRES.protobuf;
    this.#encoding = sabotage.decoder?.(encoding) ?? encoding;
    const mirror = <K extends Kind>(kind: K): Mirror<K> =>
      new Mirror({
        kind,
        interner: this.interner,
        onEvent: (event) => this.take(event),
        onProblem: (problem) => this.onProblem(problem),
      });
    this.#mirrors = {
      service: mirror('service'),
      slice: mirror('slice'),
      node: mirror('node'),
      serviceCidr: mirror('serviceCidr'),
      namespace: mirror('namespace'),
    };
  }

  onProblem: (problem: ClusterError) => void = () => undefined;

  get table(): ForwardingTable {
    return this.observation.table;
  }

  /** One event in protobuf, by a decoder that lives as long as a watch. */
  decode(kind: Kind, event: Buffer): WatchEvent | undefined {
    this.#readers[kind] ??= this.#encoding.events(kind);
    const [decoded] = this.#readers[kind].push(WIRES.protobuf.framed(event));
    return decoded;
  }

  put(kind: Kind, raw: unknown): void {
    this.sabotage.beforePut?.(raw);
    this.#mirrors[kind].put(raw);
  }

  delete(kind: Kind, raw: unknown): void {
    this.#mirrors[kind].delete(raw);
  }

  take(event: SourceEvent): void {
    if (event.type === 'put') this.#toldOf(event.kind).set(event.key, event.object);
    if (event.type === 'delete') this.#toldOf(event.kind).delete(event.key);
    if (this.sabotage.forgets?.(event) !== true) this.#sink()(event);
  }

  takeChanges(): Change[] {
    const changes = this.table.takeChanges();
    for (const { key, after } of changes) {
      if (after === undefined) this.applied.delete(key);
      else this.applied.set(key, after);
    }
    return changes;
  }

  /** As after a start: no object, and nothing known of the node but its name. */
  empty(): void {
    for (const kind of KINDS) {
      for (const object of [...this.told[kind].values()]) {
        const { name, namespace } = object as Partial<ServiceObject | SliceObject>;
        this.delete(kind, { metadata: { name, namespace } });
      }
    }
    this.takeChanges();
    this.table.setView(unknownNode(NODE_NAME));
    this.takeChanges();
  }

  close(): void {
    this.#end.abort();
  }

  #toldOf(kind: Kind): Map<ObjectKey, unknown> {
    return this.told[kind] as Map<ObjectKey, unknown>;
  }

  /** The observation subscribes to a source; here the caller of take() is the source. */
  #sink(): (event: SourceEvent) => void {
    if (this.#emit !== undefined) return this.#emit;
    const { signal } = this.#end;
    let given: ((event: SourceEvent) => void) | undefined;
    const ended = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const run = (onEvent: (event: SourceEvent) => void): Promise<void> => {
      given = onEvent;
      return ended;
    };
    // Its end is that of the world, and it cannot fail: take() throws at its caller.
    void this.observation.follow({ run, health: () => [] }, signal);
    if (given === undefined) throw new Error('the observation did not subscribe to its source');
    this.#emit = given;
    return given;
  }
}
