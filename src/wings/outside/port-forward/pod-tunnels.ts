import type { Duplex } from 'node:stream';
import type { TunnelCounts } from '../../../agent/status-page.ts';
import type { ClusterAccess } from '../../../cluster/access.ts';
import { type Dial, openSocket } from '../../../cluster/api-socket.ts';
import { ClusterError } from '../../../cluster/cluster-error.ts';
import { dialThrough } from '../../../cluster/tunnel.ts';
import { type PodName, upgrade } from './handshake.ts';
import { PodTunnel, type TunnelListener } from './pod-tunnel.ts';

/** Each is a connection to the API server, and one from there to the kubelet. */
const MOST_TUNNELS = 256;
const IDLE_MS = 30_000;
const MOST_OPENING = 8;
const TURN_DEADLINE_MS = 30_000;

export interface PodTunnelsOptions extends TunnelOptions {
  readonly mostTunnels?: number;
  readonly idleMs?: number;
}

interface Place {
  readonly key: string;
  tunnel: PodTunnel | undefined;
  idleTimer: NodeJS.Timeout | undefined;
}

interface Waiter {
  readonly key: string;
  readonly wake: (place: Place | undefined) => void;
  readonly reject: (error: ClusterError) => void;
}

/** Connections to pods through the API server; tunnels whose connection has ended are used again. */
export class PodTunnels {
  readonly #options: PodTunnelsOptions;
  readonly #places = new Set<Place>();
  /** By pod; the last one used comes first. */
  readonly #idle = new Map<string, Place[]>();
  readonly #waiting: Waiter[] = [];
  #openingCount = 0;
  readonly #closing = new AbortController();
  #openedTotal = 0;
  #connectionsTotal = 0;

  constructor(options: PodTunnelsOptions) {
    this.#options = options;
  }

  /** Throws ClusterError. Nothing has been sent then. */
  async connect(pod: PodName, port: number): Promise<Duplex> {
    const key = `${pod.namespace}/${pod.name}`;
    for (;;) {
      const { tunnel, isUsed } = await this.#acquire(key, pod);
      try {
        const stream = await tunnel.connect(port);
        this.#connectionsTotal += 1;
        return stream;
      } catch (error) {
        // It was lost while idle, and nothing has been sent on it.
        const isLost = error instanceof ClusterError && error.code === 'CLUSTER_CONNECTION_LOST';
        if (!isUsed || !isLost) throw error;
      }
    }
  }

  counts(): TunnelCounts {
    let idle = 0;
    for (const places of this.#idle.values()) idle += places.length;
    return {
      open: this.#places.size,
      idle,
      openedTotal: this.#openedTotal,
      connectionsTotal: this.#connectionsTotal,
      waiting: this.#waiting.length,
    };
  }

  close(): void {
    this.#closing.abort();
    for (const place of [...this.#places]) this.#drop(place);
    for (const waiter of this.#waiting.splice(0)) waiter.reject(full(this.#most));
  }

  get #most(): number {
    return this.#options.mostTunnels ?? MOST_TUNNELS;
  }

  /**
   * A tunnel to the pod that is idle, or a new one. Opening costs more than most connections, so few
   * are opened at a time, and a tunnel that becomes idle goes to the connection that waits for longest.
   */
  async #acquire(key: string, pod: PodName): Promise<{ tunnel: PodTunnel; isUsed: boolean }> {
    for (let given = this.#takeIdle(key); ; ) {
      if (given?.tunnel !== undefined) return { tunnel: given.tunnel, isUsed: true };
      if (this.#openingCount < MOST_OPENING && this.#hasRoom()) {
        return { tunnel: await this.#open(key, pod), isUsed: false };
      }
      given = await this.#turn(key);
    }
  }

  async #open(key: string, pod: PodName): Promise<PodTunnel> {
    const place: Place = { key, tunnel: undefined, idleTimer: undefined };
    this.#places.add(place);
    this.#openedTotal += 1;
    this.#openingCount += 1;
    const listener = { onIdle: () => this.#onIdle(place), onClosed: () => this.#drop(place) };
    try {
      place.tunnel = await openTunnel(this.#options, {
        pod,
        listener,
        signal: this.#closing.signal,
      });
      return place.tunnel;
    } catch (error) {
      this.#drop(place);
      throw error;
    } finally {
      this.#openingCount -= 1;
      this.#wakeNext();
    }
  }

  /** Closes a tunnel that is idle if that makes room. */
  #hasRoom(): boolean {
    if (this.#places.size < this.#most) return true;
    const idle = this.#idle.values().next().value?.at(-1);
    if (idle !== undefined) this.#drop(idle);
    return idle !== undefined;
  }

  /** Waits until a tunnel to the pod is idle, which it gets, or one may be opened. */
  async #turn(key: string): Promise<Place | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Place | undefined>();
    const waiter: Waiter = { key, wake: resolve, reject };
    this.#waiting.push(waiter);
    const late = setTimeout(() => reject(full(this.#most)), TURN_DEADLINE_MS);
    return await promise.finally(() => {
      clearTimeout(late);
      this.#stopWaiting(waiter);
    });
  }

  #wakeNext(): void {
    this.#waiting.shift()?.wake(undefined);
  }

  #stopWaiting(waiter: Waiter): void {
    const at = this.#waiting.indexOf(waiter);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  #onIdle(place: Place): void {
    const waiter = this.#waiting.find(({ key }) => key === place.key);
    if (waiter !== undefined) {
      this.#stopWaiting(waiter);
      waiter.wake(place);
      return;
    }
    const idle = this.#idle.get(place.key) ?? [];
    idle.unshift(place);
    this.#idle.set(place.key, idle);
    place.idleTimer = setTimeout(() => this.#drop(place), this.#options.idleMs ?? IDLE_MS);
    place.idleTimer.unref();
    // One for another pod can have its room.
    this.#wakeNext();
  }

  #takeIdle(key: string): Place | undefined {
    const place = this.#idle.get(key)?.[0];
    if (place !== undefined) this.#notIdle(place);
    return place;
  }

  #notIdle(place: Place): void {
    clearTimeout(place.idleTimer);
    const idle = this.#idle.get(place.key) ?? [];
    const left = idle.filter((each) => each !== place);
    if (left.length === 0) this.#idle.delete(place.key);
    else this.#idle.set(place.key, left);
  }

  #drop(place: Place): void {
    if (!this.#places.delete(place)) return;
    this.#notIdle(place);
    place.tunnel?.close();
    this.#wakeNext();
  }
}

function full(most: number): ClusterError {
  const message = `all ${most} connections through the API server are in use`;
  return new ClusterError('POD_UNREACHABLE', message, {
    next: 'end connections that are not needed, or give this machine a route to the pods',
  });
}

const HTTP_UNAUTHORIZED = 401;
const OPEN_DEADLINE_MS = 10_000;

interface TunnelOptions {
  readonly access: ClusterAccess;
  readonly dial: Dial;
  readonly userAgent: string;
}

interface WantedTunnel {
  readonly pod: PodName;
  readonly listener: TunnelListener;
  readonly signal: AbortSignal;
}

/** Opens a WebSocket to a pod. Throws ClusterError. */
async function openTunnel(options: TunnelOptions, wanted: WantedTunnel): Promise<PodTunnel> {
  const token = await options.access.token();
  try {
    return await openWith(options, wanted, token);
  } catch (error) {
    if (!(error instanceof ClusterError) || error.status !== HTTP_UNAUTHORIZED) throw error;
    options.access.rejected(token);
    return await openWith(options, wanted, await options.access.token());
  }
}

async function openWith(
  { access, dial, userAgent }: TunnelOptions,
  { pod, listener, signal }: WantedTunnel,
  token: Awaited<ReturnType<ClusterAccess['token']>>,
): Promise<PodTunnel> {
  const { server, proxyUrl } = access;
  const socket = {
    server,
    tls: await access.tls(),
    dial: proxyUrl === undefined ? dial : dialThrough(proxyUrl, dial),
    deadlineMs: OPEN_DEADLINE_MS,
    signal,
  };
  // HTTP/2 has no upgrade: port-forward is offered over HTTP/1.1 alone.
  return await openSocket(socket, 'http/1.1', async (opened, late) => {
    const first = await upgrade(opened, { server, pod, token, userAgent }, late);
    const tunnel = new PodTunnel(opened, `${pod.namespace}/${pod.name}`, listener);
    tunnel.start(first);
    return tunnel;
  });
}
