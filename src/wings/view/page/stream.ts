import type { Problem } from '../protocol/common.ts';
import type { Hello, ViewTick } from '../protocol/tick.ts';
import type { Store } from './store.ts';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** Ticks come every second; a stream that says nothing for so long is broken. */
const SILENCE_MS = 8000;

/** Follows the stream of ticks, and reconnects with growing pauses. */
export class Stream {
  readonly #store: Store;
  #source: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempts = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  open(): void {
    this.#end();
    const source = new EventSource('/data/ticks');
    this.#source = source;
    const on = <T>(type: string, take: (data: T) => void): void => {
      source.addEventListener(type, (event) => {
        if (source !== this.#source) return;
        this.#heard();
        take(JSON.parse((event as MessageEvent<string>).data) as T);
      });
    };
    on<Hello>('hello', (hello) => this.#store.hello(hello));
    on<ViewTick>('tick', (tick) => this.#store.addTick(tick, performance.now()));
    on<Problem>('trouble', (problem) => this.#store.setTrouble(problem));
    source.addEventListener('error', () => {
      if (source === this.#source) this.#break();
    });
    this.#await();
  }

  #heard(): void {
    this.#attempts = 0;
    if (this.#store.link.is !== 'open') this.#store.setLink({ is: 'open' });
    this.#await();
  }

  #await(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#break(), SILENCE_MS);
  }

  #break(): void {
    this.#end();
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#attempts, LONGEST_PAUSE_MS);
    this.#attempts += 1;
    const retryAtMs = performance.now() + pauseMs;
    this.#store.setLink({ is: 'broken', retryAtMs, attempts: this.#attempts });
    this.#timer = setTimeout(() => this.open(), pauseMs);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }
}
