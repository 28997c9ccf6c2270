import { parseIp } from '../../addresses/ip.ts';

/** The part of a connection that the budget needs. */
export interface Admittable {
  /** Clients with the same key count as one source. */
  readonly source: string;
  /** Closes it immediately, and frees its kernel buffers. */
  evict(): void;
}

export interface BudgetLimits {
  /** Connections of all servers together. */
  readonly total: number;
  /** Connections of one source. */
  readonly perSource: number;
  /** Bytes of responses that clients have not read yet. */
  readonly unreadBytes: number;
}

interface Share {
  readonly source: string;
  /** In order of inactivity, longest first. */
  readonly connections: Set<Admittable>;
}

const TOTAL = 1024;
const DESCRIPTORS_PER_CONNECTION = 4;
const LEAST_TOTAL = 16;
const SHARES_OF_TOTAL = 4;
const UNREAD_BYTES = 8 * 1024 * 1024;

/** At most a quarter of the file descriptors that the process may have. */
export function limitsFor(openFileLimit: number): BudgetLimits {
  const affordable = Math.floor(openFileLimit / DESCRIPTORS_PER_CONNECTION);
  const total = Math.max(LEAST_TOTAL, Math.min(TOTAL, affordable));
  return { total, perSource: total / SHARES_OF_TOTAL, unreadBytes: UNREAD_BYTES };
}

/**
 * Limits connections over all servers of the process. A new connection is always accepted: at the
 * limit, the source with the most connections loses its longest inactive one, so a client with a
 * single connection is safe from one with many. Every operation takes constant time.
 */
export class ConnectionBudget {
  readonly #limits: BudgetLimits;
  readonly #shares = new Map<string, Share>();
  /** Shares by the number of their connections; in each, the longest inactive one comes first. */
  readonly #bySize = new Map<number, Set<Share>>();
  readonly #unread = new Map<Admittable, number>();
  #largestSize = 0;
  #count = 0;
  #unreadBytes = 0;
  #evictedCount = 0;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  /** Number of evicted connections. */
  get evictedCount(): number {
    return this.#evictedCount;
  }

  /** Counts a new connection until `leave`; may evict another one. */
  admit(connection: Admittable): void {
    const { source } = connection;
    const share = this.#shares.get(source) ?? { source, connections: new Set<Admittable>() };
    this.#shares.set(source, share);
    share.connections.add(connection);
    this.#count++;
    this.#resize(share, share.connections.size - 1);
    if (share.connections.size > this.#limits.perSource) this.#evictOldestOf(share);
    else if (this.#count > this.#limits.total) this.#evictOldestOf(this.#largestShare());
  }

  /** Marks it as active: other connections of its source are evicted first. */
  touch(connection: Admittable): void {
    const share = this.#shares.get(connection.source);
    if (!share?.connections.delete(connection)) return;
    share.connections.add(connection);
    this.#resize(share, share.connections.size);
  }

  /** Bytes of a response that the kernel has not accepted yet; 0: none. */
  holdUnread(connection: Admittable, bytes: number): void {
    this.#unreadBytes += bytes - (this.#unread.get(connection) ?? 0);
    this.#unread.delete(connection);
    if (bytes > 0) this.#unread.set(connection, bytes);
    while (this.#unreadBytes > this.#limits.unreadBytes && this.#unread.size > 1) {
      const [oldest] = this.#unread.keys();
      if (oldest !== undefined) this.#evict(oldest);
    }
  }

  leave(connection: Admittable): void {
    this.holdUnread(connection, 0);
    const share = this.#shares.get(connection.source);
    if (!share?.connections.delete(connection)) return;
    this.#count--;
    this.#resize(share, share.connections.size + 1);
    if (share.connections.size === 0) this.#shares.delete(share.source);
  }

  #largestShare(): Share | undefined {
    const [longestInactive] = this.#bySize.get(this.#largestSize) ?? [];
    return longestInactive;
  }

  #evictOldestOf(share: Share | undefined): void {
    const [oldest] = share?.connections ?? [];
    if (oldest !== undefined) this.#evict(oldest);
  }

  #evict(connection: Admittable): void {
    this.#evictedCount++;
    this.leave(connection);
    connection.evict();
  }

  /** Moves a source, which gained or lost one connection, to its size class. */
  #resize(share: Share, sizeBefore: number): void {
    const size = share.connections.size;
    const before = this.#bySize.get(sizeBefore);
    before?.delete(share);
    if (before?.size === 0) this.#bySize.delete(sizeBefore);
    if (size > 0) {
      const now = this.#bySize.get(size) ?? new Set<Share>();
      now.add(share);
      this.#bySize.set(size, now);
    }
    if (size > this.#largestSize) this.#largestSize = size;
    else if (!this.#bySize.has(this.#largestSize)) this.#largestSize = size;
  }
}

const LOCAL = 'local';
const NETWORK_BYTES = 8;

/**
 * Clients with one IPv4 address or in one IPv6 /64, which a single machine usually has, count as
 * one source. `remoteAddress` is undefined for a Unix socket.
 */
export function sourceKey(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return LOCAL;
  const [withoutZone = ''] = remoteAddress.split('%', 1);
  const address = parseIp(withoutZone);
  if (address === undefined) return withoutZone;
  if (address.version === 4) return address.bytes.join('.');
  return Buffer.from(address.bytes.subarray(0, NETWORK_BYTES)).toString('hex');
}
