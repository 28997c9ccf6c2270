import { constants } from 'node:os';
import { NetlinkRejection } from '../netlink/netlink-error.ts';
import { ReceiveBuffers } from '../netlink/netlink-socket.ts';
import { decodeDestination, decodeServer, decodeTimeouts } from './decode-ipvs.ts';
import { type IpvsExchange, nextIteration, openIpvsExchange } from './ipvs-exchange.ts';
import { readFingerprint } from './ipvs-fingerprint.ts';
import {
  type DestinationCount,
  type DestinationState,
  type FingerprintExtent,
  type Ipvs,
  type IpvsFingerprint,
  type IpvsRejection,
  type IpvsTimeouts,
  type IpvsWrite,
  type VirtualServer,
  type VirtualServerKey,
  type VirtualServerState,
  virtualServerId,
} from './ipvs-model.ts';
import * as ipvs from './ipvs-protocol.ts';
import { listedDestinations } from './listed-destinations.ts';

const { ESRCH } = constants.errno;
const QUESTIONS_AT_ONCE = 32;

/** IPVS of the network namespace of the calling thread. Keeps nothing open between calls. */
export class KernelIpvs implements Ipvs {
  readonly #buffers = new ReceiveBuffers();

  async write(writes: readonly IpvsWrite[]): Promise<readonly IpvsRejection[]> {
    if (writes.length === 0) return [];
    using exchange = await openIpvsExchange(this.#buffers);
    return await exchange.write(writes);
  }

  async read(): Promise<ReadonlyMap<string, VirtualServerState>> {
    using exchange = await openIpvsExchange(this.#buffers);
    const servers = await listServers(exchange);
    const listed = await listedDestinations();
    const found = new Map<string, VirtualServerState>();
    for (const [id, server] of servers) {
      // The listing may leave servers out; a question for one is complete.
      const destinations = listed.get(id) ?? (await destinationsIfThere(exchange, server));
      if (destinations !== undefined) found.set(id, { server, destinations });
    }
    return found;
  }

  async existing(servers: readonly VirtualServerKey[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    if (servers.length === 0) return found;
    using exchange = await openIpvsExchange(this.#buffers);
    for (const [index, server] of servers.entries()) {
      // An answer is there at once, so nothing else would run between two questions.
      if (index % QUESTIONS_AT_ONCE === QUESTIONS_AT_ONCE - 1) await nextIteration();
      if (await isThere(exchange, server)) found.add(virtualServerId(server));
    }
    return found;
  }

  async destinationsOf(
    servers: readonly VirtualServerKey[],
  ): Promise<ReadonlyMap<string, readonly (DestinationState & DestinationCount)[]>> {
    const found = new Map<string, readonly (DestinationState & DestinationCount)[]>();
    if (servers.length === 0) return found;
    using exchange = await openIpvsExchange(this.#buffers);
    for (const server of servers) {
      const destinations = await destinationsIfThere(exchange, server);
      if (destinations !== undefined) found.set(virtualServerId(server), destinations);
    }
    return found;
  }

  fingerprint(extent: FingerprintExtent = 'whole'): Promise<IpvsFingerprint> {
    return readFingerprint(extent);
  }

  async timeouts(): Promise<IpvsTimeouts> {
    using exchange = await openIpvsExchange(this.#buffers);
    let timeouts: IpvsTimeouts = { tcpSeconds: 0, tcpFinSeconds: 0, udpSeconds: 0 };
    await exchange.ask(ipvs.CMD_GET_CONFIG, { what: 'read the timeouts of IPVS' }, (body) => {
      timeouts = decodeTimeouts(body);
    });
    return timeouts;
  }

  async setTimeouts(timeouts: IpvsTimeouts): Promise<void> {
    using exchange = await openIpvsExchange(this.#buffers);
    // The kernel too takes 0 for "as it is".
    const numbers = [
      [ipvs.ATTR_TIMEOUT_TCP, timeouts.tcpSeconds],
      [ipvs.ATTR_TIMEOUT_TCP_FIN, timeouts.tcpFinSeconds],
      [ipvs.ATTR_TIMEOUT_UDP, timeouts.udpSeconds],
    ] as const;
    await exchange.ask(ipvs.CMD_SET_CONFIG, { what: 'set the timeouts of IPVS', numbers });
  }
}

async function listServers(exchange: IpvsExchange): Promise<Map<string, VirtualServer>> {
  const servers = new Map<string, VirtualServer>();
  await exchange.list(ipvs.CMD_GET_SERVICE, { what: 'list virtual servers' }, (body) => {
    const server = decodeServer(body);
    if (server) servers.set(virtualServerId(server), server);
  });
  return servers;
}

/** Undefined: there is no such virtual server. The kernel lists nothing then, without an error. */
async function destinationsIfThere(
  exchange: IpvsExchange,
  server: VirtualServerKey,
): Promise<(DestinationState & DestinationCount)[] | undefined> {
  const family = server.address.includes(':') ? ipvs.AF_INET6 : ipvs.AF_INET;
  const destinations: (DestinationState & DestinationCount)[] = [];
  const question = { what: 'list the destinations of a virtual server', server };
  await exchange.list(ipvs.CMD_GET_DEST, question, (body) => {
    const destination = decodeDestination(body, family);
    if (destination) destinations.push(destination);
  });
  if (destinations.length > 0 || (await isThere(exchange, server))) return destinations;
  return undefined;
}

async function isThere(exchange: IpvsExchange, server: VirtualServerKey): Promise<boolean> {
  try {
    await exchange.ask(ipvs.CMD_GET_SERVICE, { what: 'find a virtual server', server });
    return true;
  } catch (error) {
    if (error instanceof NetlinkRejection && error.errno === ESRCH) return false;
    throw error;
  }
}
