import net from 'node:net';
import type { Endpoint } from '../../forwarding/model.ts';
import { type OpenServer, openServer, type Place } from './open-server.ts';

/** kube-proxy's timeout for connecting to an endpoint. */
const CONNECT_DEADLINE_MS = 5000;

export interface RelayOptions {
  /** Undefined: the connection is closed. */
  readonly pick: () => Endpoint | undefined;
  readonly slots: RelaySlots;
  readonly connectDeadlineMs?: number;
}

/** Limits the connections of all relays: each takes two file descriptors. */
export class RelaySlots {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  /** False: at the limit. Open connections are never closed for new ones. */
  take(): boolean {
    if (this.#count >= this.#most) return false;
    this.#count++;
    return true;
  }

  leave(): void {
    this.#count--;
  }
}

/** Relays connections to an endpoint and back, until closed. */
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
  // Either side may half-close; `pipe` passes it on.
  client.pipe(backend);
  backend.pipe(client);
  endTogether(client, backend);
  endTogether(backend, client);
  return backend;
}

/** Flushes what one side still has to send, unless the other failed. */
function endTogether(one: net.Socket, other: net.Socket): void {
  // A broken connection is passed on to the other side.
  one.on('error', () => other.destroy());
  one.on('close', () => other.destroySoon());
}
