import { endpointKey } from '../forwarding/endpoints.ts';
import { servicePortKey, servicePortName } from '../forwarding/model.ts';
import type { NotServedFrontend, NotServedReason } from '../forwarding/not-served.ts';
import { notServedText } from '../forwarding/not-served-text.ts';
import type { Context } from './context.ts';
import { failureOf } from './failure.ts';
import type { HeldPort, HostSockets, SocketOwner } from './host-sockets.ts';
import {
  conflictKey,
  conflictText,
  type NodePortConflict,
  nodePortConflicts,
} from './node-port-conflicts.ts';

const LOOK_EVERY_MS = 5_000;
/** Further ones are counted, and not reported one by one. */
const MOST_TOLD = 32;

type Needed = Pick<Context, 'intake' | 'observers' | 'clock' | 'log'>;

/** Tracks which addresses and ports are in conflict, and reports each new one. */
export class AddressWatch {
  readonly #context: Needed;
  readonly #hostSockets: HostSockets | undefined;
  #conflicts: readonly NodePortConflict[] = [];
  #told: ReadonlySet<string> = new Set();

  constructor(context: Needed, hostSockets: HostSockets | undefined) {
    this.#context = context;
    this.#hostSockets = hostSockets;
  }

  report(): AddressReport {
    const { table } = this.#context.intake;
    return { notServed: table.notServed.counts(), conflicts: this.#conflicts };
  }

  /** The first addresses that are not served, by Service. */
  notServed(most: number): NotServedAddress[] {
    return this.#context.intake.table.notServed.first(most).map((each) => ({
      service: servicePortName(each.row.id),
      address: notServedAddress(each),
      reason: each.notServed.reason,
      why: notServedText(each.notServed),
    }));
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look();
      await this.#context.clock.sleep(LOOK_EVERY_MS, signal);
    }
  }

  async #look(): Promise<void> {
    const { table, facts, hostSockets } = this.#context.intake;
    const found = nodePortConflicts({ table, facts, sockets: hostSockets });
    this.#conflicts = await this.#withOwners(found);
    const told = new Set<string>();
    for (const each of this.#conflicts.slice(0, MOST_TOLD)) {
      this.#tell(told, conflictKey(each), () => this.#tellConflict(each));
    }
    for (const each of table.notServed.first(MOST_TOLD)) {
      this.#tell(told, frontendKey(each), () => this.#tellNotServed(each));
    }
    this.#told = told;
  }

  #tell(told: Set<string>, key: string, tell: () => void): void {
    told.add(key);
    if (!this.#told.has(key)) tell();
  }

  #tellConflict(conflict: NodePortConflict): void {
    const { log, observers } = this.#context;
    log.warn(`${conflictText(conflict)}: clients of that process reach the Service instead`);
    observers.tell((observer) => observer.onNodePortConflict?.(conflict));
  }

  #tellNotServed(frontend: NotServedFrontend): void {
    const { log, observers } = this.#context;
    const { id } = frontend.row;
    log.warn({ service: servicePortName(id) }, notServedLine(frontend));
    observers.tell((observer) => observer.onNotServed?.(frontend));
  }

  /**
   * The owning processes are looked up once: a lookup takes time in proportion to all processes.
   */
  async #withOwners(conflicts: readonly NodePortConflict[]): Promise<NodePortConflict[]> {
    const known = new Map<number, SocketOwner>();
    for (const { socket, owner } of this.#conflicts) if (owner) known.set(socket.inode, owner);
    const unknown = conflicts.filter((each) => this.#isNew(each, known));
    const sockets = unknown.map(({ socket }) => socket);
    for (const [inode, owner] of await this.#owners(sockets)) known.set(inode, owner);
    return conflicts.map((each) => {
      const owner = known.get(each.socket.inode);
      return owner === undefined ? each : { ...each, owner };
    });
  }

  #isNew(conflict: NodePortConflict, known: ReadonlyMap<number, SocketOwner>): boolean {
    return !known.has(conflict.socket.inode) && !this.#told.has(conflictKey(conflict));
  }

  async #owners(sockets: readonly HeldPort[]): Promise<ReadonlyMap<number, SocketOwner>> {
    if (sockets.length === 0 || this.#hostSockets === undefined) return new Map();
    try {
      return await this.#hostSockets.owners(new Set(sockets.map(({ inode }) => inode)));
    } catch (error) {
      const { code, message } = failureOf(error, this.#context.clock.monotonicMs());
      this.#context.log.debug(
        { code },
        `cannot find the processes that own listening sockets: ${message}`,
      );
      return new Map();
    }
  }
}

/** Addresses that are not served, and node ports that take clients from a process. */
export interface AddressReport {
  readonly notServed: Readonly<Record<NotServedReason, number>>;
  readonly conflicts: readonly NodePortConflict[];
}

/** An address that is not served, for people. */
export interface NotServedAddress {
  /** `namespace/name:port`. */
  readonly service: string;
  /** `external-ip 10.96.7.7:80/TCP`. */
  readonly address: string;
  readonly reason: NotServedReason;
  readonly why: string;
}

/** `external-ip 10.96.7.7:80 is not served: it is in the Service CIDR 10.96.0.0/16`. */
export function notServedLine(refused: NotServedFrontend): string {
  return `${notServedAddress(refused)} is not served: ${notServedText(refused.notServed)}`;
}

/** `external-ip 10.96.7.7:80/TCP`. */
function notServedAddress({ row, frontend }: NotServedFrontend): string {
  const where = frontend.kind === 'node-port' ? String(frontend.port) : endpointKey(frontend);
  return `${frontend.kind} ${where}/${row.id.protocol}`;
}

function frontendKey(refused: NotServedFrontend): string {
  return [servicePortKey(refused.row.id), notServedLine(refused)].join(' ');
}
