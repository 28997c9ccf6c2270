import { constants } from 'node:os';
import {
  type Destination,
  type DestinationCount,
  type DestinationState,
  type Ipvs,
  type IpvsFingerprint,
  type IpvsRejection,
  type IpvsTimeouts,
  type IpvsWrite,
  type VirtualServer,
  type VirtualServerKey,
  type VirtualServerState,
  virtualServerId,
} from '../../../../linux/ipvs/ipvs-model.ts';

const { EEXIST, ENOENT, ENOMEM, ESRCH } = constants.errno;

interface Held {
  server: VirtualServer;
  readonly destinations: Map<string, { destination: Destination; connections: number }>;
}

const NO_COUNTS: DestinationCount = {
  ...{ persistentConnections: 0, connections: 0, packetsIn: 0, packetsOut: 0 },
  ...{ bytesIn: 0, bytesOut: 0 },
};

/**
 * IPVS in memory, with the kernel's answers to writes. A fake, because thousands of sequences of
 * changes and rejections are tried on machines without IPVS; the root tests ask the real one.
 */
export class MemoryIpvs implements Ipvs {
  readonly held = new Map<string, Held>();
  writeCount = 0;
  /** Whether the kernel rejects this write. */
  isRejected: (write: IpvsWrite) => boolean = () => false;
  rejectsWith = ENOMEM;
  /** Reads of everything. */
  readCount = 0;
  /** Schedulers that it does not have. */
  missing: ReadonlySet<string> = new Set();
  #timeouts: IpvsTimeouts = { tcpSeconds: 900, tcpFinSeconds: 120, udpSeconds: 300 };

  async write(writes: readonly IpvsWrite[]): Promise<readonly IpvsRejection[]> {
    const rejections: IpvsRejection[] = [];
    for (const write of writes) {
      const errno = this.isRejected(write) ? this.rejectsWith : this.#do(write);
      this.writeCount += 1;
      if (errno !== 0) rejections.push({ write, errno });
    }
    return rejections;
  }

  async read(): Promise<ReadonlyMap<string, VirtualServerState>> {
    this.readCount += 1;
    return new Map(
      [...this.held].map(([id, { server }]) => [id, { server, destinations: this.#states(id) }]),
    );
  }

  async existing(servers: readonly VirtualServerKey[]): Promise<ReadonlySet<string>> {
    return new Set(servers.map(virtualServerId).filter((id) => this.held.has(id)));
  }

  async destinationsOf(
    servers: readonly VirtualServerKey[],
  ): Promise<ReadonlyMap<string, readonly (DestinationState & DestinationCount)[]>> {
    const known = servers.map(virtualServerId).filter((id) => this.held.has(id));
    return new Map(
      known.map((id) => [id, this.#states(id).map((state) => ({ ...state, ...NO_COUNTS }))]),
    );
  }

  async fingerprint(): Promise<IpvsFingerprint> {
    const destinations = [...this.held.values()].flatMap((held) => [...held.destinations.values()]);
    const weights = [...this.held].map(([id, { server, destinations: held }]) =>
      JSON.stringify([id, server, [...held.values()].map(({ destination }) => destination)]),
    );
    return {
      digest: weights.sort().join(),
      virtualServers: this.held.size,
      destinations: destinations.length,
    };
  }

  async timeouts(): Promise<IpvsTimeouts> {
    return this.#timeouts;
  }

  async setTimeouts(timeouts: IpvsTimeouts): Promise<void> {
    this.#timeouts = timeouts;
  }

  /** A destination has so many connections from now on. */
  connect(server: string, destination: string, connections: number): void {
    const held = this.held.get(server)?.destinations.get(destination);
    if (held) held.connections = connections;
  }

  #states(id: string): DestinationState[] {
    return [...(this.held.get(id)?.destinations.values() ?? [])].map(
      ({ destination, connections }) => ({
        ...destination,
        activeConnections: connections,
        inactiveConnections: 0,
      }),
    );
  }

  #do(write: IpvsWrite): number {
    const id = virtualServerId(write.server);
    const held = this.held.get(id);
    const isNamed = write.do === 'add-server' || write.do === 'set-server';
    if (isNamed && this.missing.has(write.server.scheduler)) return ENOENT;
    if (write.do === 'add-server') {
      if (held) return EEXIST;
      this.held.set(id, { server: write.server, destinations: new Map() });
      return 0;
    }
    if (held === undefined) return ESRCH;
    if ('destination' in write) return doDestination(held, write);
    if (write.do === 'set-server') held.server = write.server;
    else this.held.delete(id);
    return 0;
  }
}

function doDestination(
  { destinations }: Held,
  write: Extract<IpvsWrite, { destination: Destination }>,
): number {
  const id = `${write.destination.address} ${write.destination.port}`;
  const held = destinations.get(id);
  if (write.do === 'add-destination') {
    if (held) return EEXIST;
    destinations.set(id, { destination: write.destination, connections: 0 });
    return 0;
  }
  if (held === undefined) return ENOENT;
  if (write.do === 'set-destination') held.destination = write.destination;
  else destinations.delete(id);
  return 0;
}
