import type { Socket } from 'node:net';

export interface PlaceLimits {
  /** Connections that have sent no request with the token yet. */
  readonly waiting: number;
  /** Connections that have. */
  readonly admitted: number;
  /** Until a connection has sent its first request with the token. */
  readonly firstRequestMs: number;
}

/**
 * Every local user may connect, and only one has the token. So those who wait have places of their own
 * and lose them soon: however many there are, a request with the token finds a place.
 */
export class ConnectionPlaces {
  readonly #limits: PlaceLimits;
  /** Sets keep their order: the oldest is the first. */
  readonly #waiting = new Set<Socket>();
  readonly #admitted = new Set<Socket>();
  readonly #deadlines = new Map<Socket, NodeJS.Timeout>();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** A new connection. */
  add(socket: Socket): void {
    evict(this.#waiting, this.#limits.waiting - 1);
    this.#waiting.add(socket);
    const late = setTimeout(() => socket.destroy(), this.#limits.firstRequestMs);
    this.#deadlines.set(socket, late);
    socket.once('close', () => {
      this.#leaveWaiting(socket);
      this.#admitted.delete(socket);
    });
  }

  /** It has sent the token. */
  admit(socket: Socket): void {
    if (this.#admitted.has(socket) || socket.destroyed) return;
    this.#leaveWaiting(socket);
    evict(this.#admitted, this.#limits.admitted - 1);
    this.#admitted.add(socket);
  }

  isAdmitted(socket: Socket): boolean {
    return this.#admitted.has(socket);
  }

  #leaveWaiting(socket: Socket): void {
    this.#waiting.delete(socket);
    clearTimeout(this.#deadlines.get(socket));
    this.#deadlines.delete(socket);
  }
}

/** Leaves so many. They close later, and give up their places at once. */
function evict(sockets: Set<Socket>, most: number): void {
  for (const oldest of sockets) {
    if (sockets.size <= most) return;
    sockets.delete(oldest);
    oldest.destroy();
  }
}
