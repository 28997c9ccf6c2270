import net from 'node:net';
import type { Endpoint } from '../../forwarding/model.ts';
import { type OpenServer, openServer, type Place } from './open-server.ts';

/** As long as kube-proxy waits for an endpoint to answer. */
const CONNECT_DEADLINE_MS = 5000;

export interface RelayOptions {
  /** Undefined: the connection is closed. */
  readonly pick: () => Endpoint | undefined;
  readonly slots: RelaySlots;
  readonly connectDeadlineMs?: number;
}

/** How many connections all relays may have together: each costs two file descriptors. */
export class RelaySlots {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  /** False: there is no room. A connection that is there is never closed for a new one. */
  take(): boolean {
    if (this.#count >= this.#most) return false;
    this.#count++;
    return true;
  }

  leave(): void {
    this.#count--;
  }
}

/** Passes what it gets at a place on to an endpoint, and back, until it is closed. */
export async function openRelay(place: Place, options: RelayOptions): Promise<OpenServer> {
  const backends = new Set<net.Socket>();
  const server = await openServer(place, (client) => {
    const endpoint = options.pick();
    if (endpoint === undefined || !options.slots.take()) {
      client.destroy();
      return;
    }
    const backend = relay(client, endpoint, options.connectDeadlineMs ?? CONNECT_DEADLINE_MS);
    backends.add(backend);
    backend.on('close', () => {
      backends.delete(backend);
      options.slots.leave();
    });
  });
  return {
    ...server,
    close: () => {
      server.close();
      for (const backend of backends) backend.destroy();
    },
  };
}

function relay(client: net.Socket, endpoint: Endpoint, deadlineMs: number): net.Socket {
  const backend = net.connect({
    host: endpoint.address,
    port: endpoint.port,
    allowHalfOpen: true,
    noDelay: true,
  });
  backend.setTimeout(deadlineMs, () => backend.destroy());
  backend.on('connect', () => backend.setTimeout(0));
  // Each end may stop sending while the other goes on; `pipe` passes that on.
  client.pipe(backend);
  backend.pipe(client);
  endTogether(client, backend);
  endTogether(backend, client);
  return backend;
}

/** What one end still has to send is sent, unless the other one broke. */
function endTogether(one: net.Socket, other: net.Socket): void {
  // That a client or an endpoint breaks a connection is for the other of them to know.
  one.on('error', () => other.destroy());
  one.on('close', () => other.destroySoon());
}
