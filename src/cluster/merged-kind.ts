import type { Kind, ObjectKey } from './object-kinds.ts';
import type { SourceEvent, SourceHealth } from './source.ts';

type Put = Extract<SourceEvent, { type: 'put' }>;

/** The reflectors that have an object. */
interface Holding {
  /** The one whose events are passed on, so that an object never goes back in time. */
  owner: number;
  /** The last event of each other one; undefined: there is no other. */
  others: Map<number, Put> | undefined;
}

/** What is known of the initial list of a reflector. */
type Reading = 'waiting' | 'read' | 'forbidden';

export interface MergedKindOptions {
  readonly kind: Kind;
  /** A name for each reflector, such as `namespace shop`. */
  readonly parts: readonly string[];
  readonly onEvent: (event: SourceEvent) => void;
}

/**
 * Merges the events of several reflectors of one kind, as if they were one. An object that several
 * have is deleted when the last of them loses it.
 */
export class MergedKind {
  readonly #options: MergedKindOptions;
  readonly #readings: Reading[];
  readonly #holdings = new Map<ObjectKey, Holding>();
  #isSynced = false;

  constructor(options: MergedKindOptions) {
    this.#options = options;
    this.#readings = options.parts.map(() => 'waiting');
  }

  /** The parts that the server does not let this user read, each once. */
  get forbidden(): readonly string[] {
    const { parts } = this.#options;
    return [...new Set(parts.filter((_, part) => this.#readings[part] === 'forbidden'))];
  }

  take(part: number, event: SourceEvent): void {
    if (event.type === 'put') this.#put(part, event);
    else if (event.type === 'delete') this.#delete(part, event);
    else this.#read(part, 'read');
  }

  /** One forbidden namespace must not stop the others. */
  forbid(part: number): void {
    if (this.#readings[part] === 'waiting') this.#read(part, 'forbidden');
  }

  #read(part: number, reading: Reading): void {
    this.#readings[part] = reading;
    const isDecided = this.#readings.every((each) => each !== 'waiting');
    // With nothing to read at all, rules of an earlier process must stay.
    const isAnyRead = this.#readings.includes('read');
    if (this.#isSynced || !isDecided || !isAnyRead) return;
    this.#isSynced = true;
    this.#options.onEvent({ kind: this.#options.kind, type: 'synced' });
  }

  #put(part: number, event: Put): void {
    const holding = this.#holdings.get(event.key);
    if (holding === undefined) {
      this.#holdings.set(event.key, { owner: part, others: undefined });
    } else if (holding.owner !== part) {
      holding.others ??= new Map();
      holding.others.set(part, event);
      return;
    }
    this.#options.onEvent(event);
  }

  #delete(part: number, event: Extract<SourceEvent, { type: 'delete' }>): void {
    const holding = this.#holdings.get(event.key);
    if (holding === undefined) return;
    if (holding.owner !== part) {
      holding.others?.delete(part);
      return;
    }
    const [heir] = holding.others ?? [];
    if (heir === undefined) {
      this.#holdings.delete(event.key);
      this.#options.onEvent(event);
      return;
    }
    const [owner, last] = heir;
    holding.others?.delete(owner);
    holding.owner = owner;
    this.#options.onEvent(last);
  }
}

/** The health of a kind that several reflectors read: as good as the worst of them. */
export function mergedHealth(
  kind: Kind,
  healths: readonly SourceHealth[],
  forbidden: readonly string[],
): SourceHealth {
  const lastError = healths.find((each) => each.lastError !== undefined)?.lastError;
  return {
    kind,
    connected: healths.every(({ connected }) => connected),
    lastHeardAtMs: Math.min(...healths.map(({ lastHeardAtMs }) => lastHeardAtMs)),
    skippedCount: healths.reduce((sum, { skippedCount }) => sum + skippedCount, 0),
    ...(lastError === undefined ? {} : { lastError }),
    ...(forbidden.length === 0 ? {} : { forbidden }),
  };
}
