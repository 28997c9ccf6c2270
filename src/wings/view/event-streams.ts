import type { ServerResponse } from 'node:http';
import { ViewProblem } from './view-problem.ts';

export interface StreamLimits {
  readonly streams: number;
  /** A page that reads more slowly than this loses its stream, and asks again. */
  readonly unreadBytes: number;
}

const TOO_MANY = 503;

/** Server-sent events for every open page. */
export class EventStreams {
  readonly #limits: StreamLimits;
  readonly #open = new Set<ServerResponse>();
  /** Those whose first event was sent. */
  readonly #begun = new Set<ServerResponse>();

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Throws ViewProblem where there are too many. */
  assertRoom(): void {
    if (this.#open.size < this.#limits.streams) return;
    throw new ViewProblem(TOO_MANY, {
      code: 'TOO_MANY_STREAMS',
      message: `${this.#limits.streams} pages are open already`,
      next: 'close one of them',
    });
  }

  /** Counts it until it ends. */
  add(response: ServerResponse): void {
    this.#open.add(response);
    response.on('close', () => {
      this.#open.delete(response);
      this.#begun.delete(response);
    });
  }

  /** From this event on it gets all others too. */
  begin(response: ServerResponse, event: string, json: string): void {
    this.#begun.add(response);
    this.#write(response, eventText(event, json));
  }

  /** The same to all of them. */
  send(event: string, json: string): void {
    const text = eventText(event, json);
    for (const response of this.#begun) this.#write(response, text);
  }

  #write(response: ServerResponse, text: string): void {
    if (response.writableLength > this.#limits.unreadBytes) response.destroy();
    else response.write(text);
  }
}

/** JSON has no line feed outside of its strings, and escapes them inside. */
function eventText(event: string, json: string): string {
  return `event: ${event}\ndata: ${json}\n\n`;
}
