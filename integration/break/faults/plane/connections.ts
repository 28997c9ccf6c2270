import { setTimeout as delay } from 'node:timers/promises';
import { dialTcp } from '../../../../lab/host/sockets.ts';
import { monotonicMs } from './questions.ts';

/** A connection, and the pod that answered it. Times of the monotonic clock. */
export interface Connection {
  readonly begunMs: number;
  readonly answeredMs: number;
  /** The name of the pod; undefined: it failed. */
  readonly by?: string;
  readonly error?: string;
}

export interface Target {
  readonly namespace: string;
  /** The control group of the node, where sockets are what is served. */
  readonly group?: string | undefined;
  readonly address: string;
  readonly port: number;
  /** Source port; by default any free one. */
  readonly sourcePort?: number;
}

const DEADLINE_MS = 5_000;
const GRACE_MS = 1_000;
/** From the range that the kernel takes local ports from by default. */
const FIRST_PORT = 32_768;
const LAST_PORT = 60_999;
const QUESTION = 'GET /hostname HTTP/1.1\r\n\r\n';

/** Ports of clients, one after the other: one used again too soon would follow an old flow. */
export class ClientPorts {
  #next = FIRST_PORT;

  take(): number {
    const port = this.#next++;
    if (this.#next > LAST_PORT) this.#next = FIRST_PORT;
    return port;
  }
}

/** Of each hand: the pause between two connections, or from the begin of one to that of the next. */
type Pace =
  | { readonly pauseMs: number; readonly everyMs?: undefined }
  | { readonly everyMs: number; readonly pauseMs?: undefined };

/** Makes new connections continuously until it is stopped. */
export class Hammer {
  readonly made: Connection[] = [];
  readonly #target: Target;
  readonly #ports: ClientPorts;
  #isStopped = false;
  #hands: Promise<void>[] = [];

  constructor(target: Target, ports: ClientPorts) {
    this.#target = target;
    this.#ports = ports;
  }

  start({ hands, ...pace }: Pace & { readonly hands: number }): this {
    const spreadMs = (pace.everyMs ?? 0) / hands;
    this.#hands = Array.from({ length: hands }, (_, at) => this.#strike(pace, at * spreadMs));
    return this;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#hands);
  }

  get address(): string {
    return this.#target.address;
  }

  failed(): Connection[] {
    return this.made.filter(({ by }) => by === undefined);
  }

  /** For a report. */
  verdict(): string {
    const [first] = this.failed();
    const example = first === undefined ? '' : ` (${this.#describe(first)})`;
    return `${this.failed().length} of ${this.made.length} connections failed${example}`;
  }

  /** If no other connection was answered meanwhile either, the machine stalled, not the proxy. */
  #describe({ error, begunMs, answeredMs }: Connection): string {
    const others = this.made.filter(
      (each) => each.by !== undefined && each.begunMs > begunMs && each.answeredMs < answeredMs,
    );
    const waitedMs = (answeredMs - begunMs).toFixed(0);
    return `${error} after ${waitedMs} ms, in which ${others.length} others were answered`;
  }

  async #strike(pace: Pace, afterMs: number): Promise<void> {
    if (afterMs > 0) await delay(afterMs);
    let nextMs = monotonicMs();
    while (!this.#isStopped) {
      const made = await connectOnce(this.#target, this.#ports.take());
      if (made === 'port in use') continue;
      this.made.push(made);
      nextMs += pace.everyMs ?? 0;
      const restMs = pace.pauseMs ?? nextMs - monotonicMs();
      if (restMs > 0) await delay(restMs);
    }
  }
}

/** `port in use`: by another connection of the client, so that none was made. */
async function connectOnce(
  target: Target,
  sourcePort: number,
): Promise<Connection | 'port in use'> {
  const begunMs = monotonicMs();
  const outcome = await new Promise<{ by: string } | { error: string } | undefined>((resolve) => {
    const { namespace, group } = target;
    const socket = dialTcp({ namespace, group, sourcePort }, target);
    let text = '';
    // This process may have stood still itself, and be the server: what came meanwhile is read first.
    const giveUp = (): void => void socket.destroy(new Error('no answer'));
    socket.setTimeout(DEADLINE_MS, () => setTimeout(giveUp, GRACE_MS));
    socket.on('connect', () => socket.write(QUESTION));
    socket.setEncoding('latin1').on('data', (more: string) => {
      text += more;
      const by = /\r\n\r\n(.+)$/.exec(text)?.[1];
      if (by === undefined) return;
      resolve({ by });
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'EADDRINUSE' ? undefined : { error: error.message });
    });
    socket.on('close', () => resolve({ error: 'closed without an answer' }));
  });
  if (outcome === undefined) return 'port in use';
  return { begunMs, answeredMs: monotonicMs(), ...outcome };
}
