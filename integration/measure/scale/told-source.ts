import { Mirror } from '../../../src/cluster/mirror.ts';
import { Interner } from '../../../src/cluster/narrow/interner.ts';
import type { Kind } from '../../../src/cluster/object-kinds.ts';
import type { Source, SourceEvent, SourceHealth } from '../../../src/cluster/source.ts';
import { readLine } from '../../../src/cluster/wire/json-encoding.ts';

const KINDS: readonly Kind[] = ['service', 'slice', 'node', 'serviceCidr'];

/** A source that is handed objects and lines of a watch as an API server would send them. */
export class ToldSource implements Source {
  readonly #interner = new Interner();
  readonly #mirrors = {
    service: this.#mirror('service'),
    slice: this.#mirror('slice'),
  };
  #onEvent: ((event: SourceEvent) => void) | undefined;
  /** When the last object was about to be delivered, after its line had been read. */
  readAtMs = 0;

  async run(onEvent: (event: SourceEvent) => void, signal: AbortSignal): Promise<void> {
    this.#onEvent = onEvent;
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }

  health(): readonly SourceHealth[] {
    return KINDS.map((kind) => ({ kind, connected: true, lastHeardAtMs: 1, skippedCount: 0 }));
  }

  put(kind: 'service' | 'slice', raw: unknown): void {
    this.#mirrors[kind].put(raw);
  }

  /** One line of a watch, as it came over the wire. */
  line(kind: 'service' | 'slice', line: Buffer): void {
    const event = readLine(line);
    if (event?.type === 'put') this.#mirrors[kind].put(event.object);
    else if (event?.type === 'delete') this.#mirrors[kind].delete(event.object);
    else throw new Error('the line is not a watch event');
  }

  /** Everything is delivered: the source is synced. */
  complete(): void {
    for (const kind of KINDS) this.#onEvent?.({ kind, type: 'synced' });
  }

  #mirror<K extends Kind>(kind: K): Mirror<K> {
    return new Mirror({
      kind,
      interner: this.#interner,
      onEvent: (event) => {
        this.readAtMs = performance.now();
        this.#onEvent?.(event);
      },
      onProblem: (problem) => {
        throw problem;
      },
    });
  }
}
