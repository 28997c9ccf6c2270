import { isDeepStrictEqual } from 'node:util';
import type { Kind } from '../cluster/object-kinds.ts';
import type { NodeObject, SliceObject } from '../cluster/objects.ts';
import type { SourceEvent } from '../cluster/source.ts';
import type { ModeNeeds } from '../config/modes.ts';
import type { NodeFacts } from '../dataplanes/contract.ts';
import { ForwardingTable } from '../forwarding/table.ts';
import type { AgentSettings } from './agent-settings.ts';
import type { ObjectChange } from './history/happenings.ts';
import type { HeldPort } from './host-sockets.ts';
import { type NodeInput, nodeFacts, nodeView } from './node-facts.ts';

/** The object of an event, for measurements and the history. */
export interface Touched {
  /** `namespace/name`; undefined when the event does not have it. */
  readonly service?: string;
  /** `namespace/name` of another Service that the slice belonged to before. */
  readonly formerService?: string;
  /** `namespace/name`. */
  readonly slice?: string;
  readonly triggeredAtMs?: number;
  /** Undefined: the history does not tell of it. */
  readonly change?: ObjectChange;
}

/** The Node object of this machine. A deleted one is kept: its values still apply to the kernel. */
export type KnownNode =
  | { readonly state: 'unknown' }
  | { readonly state: 'present' | 'deleted'; readonly object: NodeObject };

export interface IntakeOptions {
  readonly settings: AgentSettings;
  readonly needs: ModeNeeds;
  readonly nodeName: string;
  /** Whether the ports that processes of the machine hold are watched. */
  readonly expectsHostSockets?: boolean;
}

/** Joins all inputs of the agent into the desired state of this node. */
export class Intake {
  readonly table: ForwardingTable;
  readonly #nodeName: string;
  readonly #needs: ModeNeeds;
  #settings: AgentSettings;
  #node: KnownNode = { state: 'unknown' };
  #machineAddresses: readonly string[] | undefined;
  readonly #expectsHostSockets: boolean;
  /** Undefined: not received yet. */
  #hostSockets: readonly HeldPort[] | undefined;
  readonly #serviceRanges = new Map<string, readonly string[]>();
  readonly #listed = new Set<Kind>();
  #facts: NodeFacts;

  constructor(options: IntakeOptions) {
    const { settings, nodeName } = options;
    this.#settings = settings;
    this.#needs = options.needs;
    this.#expectsHostSockets = options.expectsHostSockets === true;
    this.#hostSockets = this.#expectsHostSockets ? undefined : [];
    this.#nodeName = nodeName;
    this.#facts = nodeFacts(this.#input());
    this.table = new ForwardingTable(nodeView(this.#input()));
  }

  get settings(): AgentSettings {
    return this.#settings;
  }

  get facts(): NodeFacts {
    return this.#facts;
  }

  get node(): KnownNode {
    return this.#node;
  }

  /** Whether every input is complete; called for each of a hundred thousand events at a start. */
  get isComplete(): boolean {
    const isListed = this.#expectedKinds.every((kind) => this.#listed.has(kind));
    return isListed && !this.#isWaitingForAddresses && this.#hostSockets !== undefined;
  }

  /** The inputs that are not complete yet, in words. Nothing may be written before they are. */
  missing(): string[] {
    const kinds = this.#expectedKinds.filter((kind) => !this.#listed.has(kind));
    return [
      ...kinds,
      ...(this.#isWaitingForAddresses ? ['machine addresses'] : []),
      ...(this.#hostSockets === undefined ? ['sockets of the machine'] : []),
    ];
  }

  get #isWaitingForAddresses(): boolean {
    if (this.#machineAddresses !== undefined) return false;
    const { nodePorts } = this.#settings;
    const { addresses } = nodePorts;
    const hasRanges = Array.isArray(addresses) && addresses.some((text) => text !== 'primary');
    return hasRanges || this.#expectsHostSockets || this.#needs.ownAddresses;
  }

  get #expectedKinds(): readonly Kind[] {
    const kinds = this.#settings.nodeObject === 'none' ? EXPECTED.withoutNode : EXPECTED.withNode;
    return this.#needs.namespaces ? kinds.withNamespaces : kinds.withoutNamespaces;
  }

  take(event: SourceEvent): Touched {
    if (event.type === 'synced') {
      this.#listed.add(event.kind);
      return {};
    }
    switch (event.kind) {
      case 'service':
        return this.#takeService(event);
      case 'slice':
        return this.#takeSlice(event);
      case 'node':
        return this.#takeNode(event);
      case 'namespace':
        if (event.type === 'put') this.table.putNamespace(event.object);
        else this.table.deleteNamespace(event.key);
        return {};
      case 'serviceCidr':
        if (event.type === 'put') this.#serviceRanges.set(event.key, event.object.cidrs);
        else this.#serviceRanges.delete(event.key);
        this.#nodeChanged();
        return {};
    }
  }

  takeMachineAddresses(addresses: readonly string[]): void {
    this.#machineAddresses = addresses;
    this.#nodeChanged();
    this.#hostChanged();
  }

  takeHostSockets(sockets: readonly HeldPort[]): void {
    this.#hostSockets = sockets;
    this.#hostChanged();
  }

  get hostSockets(): readonly HeldPort[] {
    return this.#hostSockets ?? [];
  }

  takeSettings(settings: AgentSettings): void {
    this.#settings = settings;
    this.#nodeChanged();
  }

  #takeService(event: Extract<SourceEvent, { kind: 'service'; type: 'put' | 'delete' }>): Touched {
    const { key, stamp } = event;
    const after = event.type === 'put' ? event.object : undefined;
    const before = after ? this.table.putService(after) : this.table.deleteService(key);
    return { service: key, change: { kind: 'service', key, before, after, stamp } };
  }

  #takeSlice(event: Extract<SourceEvent, { kind: 'slice'; type: 'put' | 'delete' }>): Touched {
    const { key, stamp } = event;
    const after = event.type === 'put' ? event.object : undefined;
    const before = after ? this.table.putSlice(after) : this.table.deleteSlice(key);
    const owner = after ?? before;
    if (owner === undefined) return { slice: key };
    const change = { kind: 'slice', key, before, after, stamp } as const;
    const service = serviceOfSlice(owner);
    const formerService = before === undefined ? service : serviceOfSlice(before);
    return {
      service,
      slice: key,
      change,
      ...(formerService === service ? {} : { formerService }),
      ...(after?.triggeredAtMs === undefined ? {} : { triggeredAtMs: after.triggeredAtMs }),
    };
  }

  #takeNode(event: Extract<SourceEvent, { kind: 'node'; type: 'put' | 'delete' }>): Touched {
    const { key, stamp } = event;
    if (key !== this.#nodeName || this.#settings.nodeObject === 'none') return {};
    const before = this.#node.state === 'present' ? this.#node.object : undefined;
    if (event.type === 'put') this.#node = { state: 'present', object: event.object };
    else if (this.#node.state !== 'unknown') {
      this.#node = { state: 'deleted', object: this.#node.object };
    }
    this.#nodeChanged();
    const after = event.type === 'put' ? event.object : undefined;
    return { change: { kind: 'node', key, before, after, stamp } };
  }

  #hostChanged(): void {
    this.table.setHost({ addresses: this.#machineAddresses ?? [], sockets: this.hostSockets });
  }

  #nodeChanged(): void {
    const input = this.#input();
    const facts = nodeFacts(input);
    if (!isDeepStrictEqual(facts, this.#facts)) this.#facts = facts;
    const view = nodeView(input);
    // A new view makes every row be computed again.
    if (!isDeepStrictEqual(view, this.table.view)) this.table.setView(view);
  }

  #input(): NodeInput {
    return {
      settings: this.#settings,
      needs: this.#needs,
      nodeName: this.#nodeName,
      node: this.#node.state === 'unknown' ? undefined : this.#node.object,
      machineAddresses: this.#machineAddresses ?? [],
      serviceRanges: [...this.#serviceRanges.values()].flat(),
    };
  }
}

/** `namespace/name`. */
function serviceOfSlice({ namespace, service }: SliceObject): string {
  return `${namespace}/${service}`;
}

const ALWAYS: readonly Kind[] = ['service', 'serviceCidr', 'slice'];
/** Made once: they are asked for with every event of a start. */
const EXPECTED = {
  withNode: expectedIn(['node', ...ALWAYS]),
  withoutNode: expectedIn(ALWAYS),
} as const;

function expectedIn(kinds: readonly Kind[]) {
  return { withNamespaces: ['namespace', ...kinds], withoutNamespaces: kinds } as const;
}
