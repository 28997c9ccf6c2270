import { LabError } from '../host/errors.ts';

type Listener = (params: unknown) => void;

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Message {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
  readonly method?: string;
  readonly params?: unknown;
}

const CALL_DEADLINE_MS = 30_000;

/** The DevTools protocol of one page: JSON over a WebSocket. */
export class DevTools {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, Listener[]>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data))));
    socket.addEventListener('close', () => this.#fail('the browser closed the connection'));
  }

  static async connect(url: string): Promise<DevTools> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), { once: true });
      socket.addEventListener('error', () => reject(devToolsError(`cannot connect to ${url}`)), {
        once: true,
      });
    });
    return new DevTools(socket);
  }

  on(method: string, listener: Listener): void {
    this.#listeners.set(method, [...(this.#listeners.get(method) ?? []), listener]);
  }

  async call<T>(method: string, params: object = {}): Promise<T> {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(() => {
      this.#waiting.delete(id);
      reject(devToolsError(`${method} was not answered within ${CALL_DEADLINE_MS} ms`));
    }, CALL_DEADLINE_MS);
    this.#waiting.set(id, { resolve, reject });
    this.#socket.send(JSON.stringify({ id, method, params }));
    try {
      return (await promise) as T;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#socket.close();
  }

  #take({ id, result, error, method, params }: Message): void {
    if (method !== undefined) for (const each of this.#listeners.get(method) ?? []) each(params);
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || waiting === undefined) return;
    this.#waiting.delete(id);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(devToolsError(error.message));
  }

  #fail(why: string): void {
    for (const { reject } of this.#waiting.values()) reject(devToolsError(why));
    this.#waiting.clear();
  }
}

export function devToolsError(message: string): LabError {
  return new LabError('LAB_BROWSER', message, { next: 'read the log of the browser' });
}
