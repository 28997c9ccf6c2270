import type { Duplex } from 'node:stream';
import { ClusterError } from '../errors.ts';
import type { PodName } from './handshake.ts';
import { openTunnel, type TunnelOptions } from './open-tunnel.ts';
import type { PodTunnel } from './pod-tunnel.ts';

/** Each is a connection to the API server, and one from there to the kubelet. */
const MOST_TUNNELS = 256;
const IDLE_MS = 30_000;
const ROOM_DEADLINE_MS = 10_000;

export interface PodTunnelsOptions extends TunnelOptions {
  readonly mostTunnels?: number;
  readonly idleMs?: number;
}

export interface TunnelCounts {
  readonly open: number;
  readonly idle: number;
  readonly openedTotal: number;
  readonly connectionsTotal: number;
  readonly waiting: number;
}

interface Place {
  readonly key: string;
  tunnel: PodTunnel | undefined;
  idleTimer: NodeJS.Timeout | undefined;
}

/** Connections to pods through the API server; tunnels whose connection has ended are used again. */
export class PodTunnels {
  readonly #options: PodTunnelsOptions;
  readonly #places = new Set<Place>();
  /** By pod; the last one used comes first. */
  readonly #idle = new Map<string, Place[]>();
  readonly #waiting: PromiseWithResolvers<void>[] = [];
  readonly #closing = new AbortController();
  #openedTotal = 0;
  #connectionsTotal = 0;

  constructor(options: PodTunnelsOptions) {
    this.#options = options;
  }

  /** Throws ClusterError. Nothing has been sent then, so that another pod can be tried. */
  async connect(pod: PodName, port: number): Promise<Duplex> {
    const key = `${pod.namespace}/${pod.name}`;
    const used = this.#takeIdle(key);
    if (used?.tunnel !== undefined) {
      const stream = await this.#tryUsed(used.tunnel, port);
      if (stream !== undefined) return stream;
    }
    const tunnel = await this.#open(key, pod);
    const stream = await tunnel.connect(port);
    this.#connectionsTotal += 1;
    return stream;
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

  /** Undefined: it was lost while idle; nothing has been sent on it. */
  async #tryUsed(tunnel: PodTunnel, port: number): Promise<Duplex | undefined> {
    try {
      const stream = await tunnel.connect(port);
      this.#connectionsTotal += 1;
      return stream;
    } catch (error) {
      if (error instanceof ClusterError && error.code === 'CLUSTER_CONNECTION_LOST') {
        return undefined;
      }
      throw error;
    }
  }

  async #open(key: string, pod: PodName): Promise<PodTunnel> {
    await this.#makeRoom();
    const place: Place = { key, tunnel: undefined, idleTimer: undefined };
    this.#places.add(place);
    this.#openedTotal += 1;
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
    }
  }

  /** Closes the tunnel that has been idle for longest, or waits until one ends. */
  async #makeRoom(): Promise<void> {
    while (this.#places.size >= this.#most) {
      const oldest = this.#idle.values().next().value?.at(-1);
      if (oldest !== undefined) {
        this.#drop(oldest);
        continue;
      }
      const waiter = Promise.withResolvers<void>();
      this.#waiting.push(waiter);
      const late = setTimeout(() => waiter.reject(full(this.#most)), ROOM_DEADLINE_MS);
      await waiter.promise.finally(() => {
        clearTimeout(late);
        const at = this.#waiting.indexOf(waiter);
        if (at >= 0) this.#waiting.splice(at, 1);
      });
    }
  }

  #onIdle(place: Place): void {
    if (this.#waiting.length > 0) {
      this.#drop(place);
      return;
    }
    const idle = this.#idle.get(place.key) ?? [];
    idle.unshift(place);
    this.#idle.set(place.key, idle);
    place.idleTimer = setTimeout(() => this.#drop(place), this.#options.idleMs ?? IDLE_MS);
    place.idleTimer.unref();
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
    this.#waiting[0]?.resolve();
  }
}

function full(most: number): ClusterError {
  const message = `all ${most} connections through the API server are in use`;
  return new ClusterError('POD_UNREACHABLE', message, {
    next: 'end connections that are not needed, or give this machine a route to the pods',
  });
}
