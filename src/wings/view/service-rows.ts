import type { PagedRow } from '../../agent/servers/row-parts.ts';
import { readRows } from '../../agent/servers/status-client.ts';
import { endpointKey } from '../../forwarding/endpoints.ts';
import { Rest } from '../top/read-pause.ts';

/** Where an endpoint is. */
export interface Place {
  /** Empty: its slice names none. */
  readonly nodeName: string;
  readonly isHere: boolean;
}

interface Known {
  readonly rows: readonly PagedRow[];
  readonly places: ReadonlyMap<string, Place>;
  readonly untilMs: number;
  readonly rest: Rest;
}

export type ReadService = (service: string) => Promise<readonly PagedRow[]>;

export function readService(socketPath: string): ReadService {
  return async (service) => await readRows({ service, withCandidates: true, socketPath });
}

const KEPT_MS = 60_000;
const MOST_KEPT = 200;

/** Rows of the Services that are shown, with the reasons for each endpoint, read again when they change. */
export class ServiceRows {
  readonly #read: ReadService;
  readonly #monotonicMs: () => number;
  readonly #known = new Map<string, Known>();
  readonly #changed = new Set<string>();

  constructor(read: ReadService, monotonicMs: () => number) {
    this.#read = read;
    this.#monotonicMs = monotonicMs;
  }

  /** It is read again by the next call of `rows`, if that is cheap enough. */
  expectChange(service: string): void {
    if (this.#known.has(service)) this.#changed.add(service);
  }

  clear(): void {
    this.#known.clear();
    this.#changed.clear();
  }

  async rows(service: string): Promise<readonly PagedRow[]> {
    return (await this.#current(service)).rows;
  }

  /** Of endpoints of these Services; at most `most` are read anew. */
  async read(services: readonly string[], most: number): Promise<void> {
    const due = services.filter((service) => this.#isDue(service)).slice(0, most);
    for (const service of due) await this.#current(service);
  }

  /** Undefined: the Service was not read, or has no such endpoint. */
  placeOf(service: string, endpoint: string): Place | undefined {
    return this.#known.get(service)?.places.get(endpoint);
  }

  #isDue(service: string): boolean {
    const known = this.#known.get(service);
    if (known === undefined) return true;
    const nowMs = this.#monotonicMs();
    const isOld = nowMs >= known.untilMs || this.#changed.has(service);
    return isOld && known.rest.isOver(nowMs);
  }

  async #current(service: string): Promise<Known> {
    const before = this.#known.get(service);
    if (before !== undefined && !this.#isDue(service)) return before;
    this.#changed.delete(service);
    const startedAtMs = this.#monotonicMs();
    const rows = await this.#read(service);
    const nowMs = this.#monotonicMs();
    const rest = before?.rest ?? new Rest();
    rest.begin(nowMs, { costMs: nowMs - startedAtMs });
    const known: Known = { rows, places: placesOf(rows), untilMs: nowMs + KEPT_MS, rest };
    this.#known.delete(service);
    this.#known.set(service, known);
    const surplus = Math.max(0, this.#known.size - MOST_KEPT);
    for (const oldest of this.#known.keys().take(surplus)) {
      this.#known.delete(oldest);
    }
    return known;
  }
}

function placesOf(rows: readonly PagedRow[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const { candidates = [] } of rows) {
    for (const { address, port, nodeName, local } of candidates) {
      places.set(endpointKey({ address, port }), { nodeName, isHere: local });
    }
  }
  return places;
}
