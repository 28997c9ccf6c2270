import type { EndpointList } from '../../../../forwarding/model.ts';

/**
 * Frontends, rows and lists of slots in memory that all threads share, as 32-bit words. The main
 * thread writes, and a copying thread finds the endpoints of a connection without asking.
 *
 *   version     odd during a write
 *   seed        of the hash
 *   buckets     heads of the chains of frontends, by hash
 *   frontends   next in the chain, address (4), meta, treatments, row
 *   rows        isSticky, start and length of the list `cluster`, the same of `local`
 *   lists       numbers of slots
 *
 * Pages that are not used cost nothing. What does not fit is left to nftables.
 */
export const VERSION = 0;
export const SEED = 1;
const BUCKETS = 2;
const BUCKET_COUNT = 2 ** 18;
export const FRONTENDS = BUCKETS + BUCKET_COUNT;
export const MOST_FRONTENDS = 2 ** 20;
export const FRONTEND_WORDS = 8;
/** Row 0 is none. */
export const ROWS = FRONTENDS + MOST_FRONTENDS * FRONTEND_WORDS;
export const MOST_ROWS = 2 ** 19;
export const ROW_WORDS = 5;
export const LISTS = ROWS + MOST_ROWS * ROW_WORDS;
export const LIST_WORDS = 2 ** 22;
export const ROW_MEMORY_BYTES = (LISTS + LIST_WORDS) * Int32Array.BYTES_PER_ELEMENT;

/** Words of a frontend. */
export const NEXT = 0;
export const ADDRESS = 1;
export const META = 5;
export const TREATMENTS = 6;
export const ROW = 7;

/** Beside the port, in `meta`. */
export const IPV6 = 1 << 16;
export const NODE_PORT = 1 << 17;

/** Bits of a treatment. Each source class has so many, in the order of SOURCE_CLASSES. */
export const TREATMENT_BITS = 3;
export const FORWARDED = 1;
export const LOCAL = 2;
export const MASQUERADED = 4;

/** The longest wait for a writer that has lost its CPU, before looking again. */
const WRITE_WAIT_MS = 1;

/** An address and a port: four words, of IPv4 only the first, and `meta`. */
export interface AddressKey {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly meta: number;
}

/** What a reader finds during a write may lead anywhere. */
export function load(words: Int32Array, at: number): number {
  return at >= 0 && at < words.length ? Atomics.load(words, at) : 0;
}

/** Where the frontend is; 0: nowhere. */
function findFrontend(words: Int32Array, key: AddressKey): number {
  let at = load(words, bucketOf(words, key));
  // A chain that is just being changed may lead in circles.
  for (let steps = 0; at !== 0 && steps < MOST_FRONTENDS; steps++) {
    if (isFrontend(words, at, key)) return at;
    at = load(words, at + NEXT);
  }
  return 0;
}

export function isFrontend(words: Int32Array, at: number, key: AddressKey): boolean {
  return (
    load(words, at + META) === key.meta &&
    load(words, at + ADDRESS) === key.a &&
    load(words, at + ADDRESS + 1) === key.b &&
    load(words, at + ADDRESS + 2) === key.c &&
    load(words, at + ADDRESS + 3) === key.d
  );
}

/** Tenants choose addresses and ports: without the seed they could fill one chain. */
export function bucketOf(words: Int32Array, { a, b, c, d, meta }: AddressKey): number {
  let sum = mixed(load(words, SEED), a);
  if ((meta & IPV6) !== 0) sum = mixed(mixed(mixed(sum, b), c), d);
  return BUCKETS + (mixed(sum, meta) & (BUCKET_COUNT - 1));
}

function mixed(sum: number, word: number): number {
  let next = Math.imul(sum ^ word, 0x85ebca6b);
  next = Math.imul(next ^ (next >>> 13), 0xc2b2ae35);
  return next ^ (next >>> 16);
}

/** Where start and length of a list are. */
export function listAt(row: number, list: EndpointList): number {
  return ROWS + row * ROW_WORDS + (list === 'cluster' ? 1 : 3);
}

/**
 * Finds the list of a frontend. What is read between `begin` and an `isCurrent` that returns false
 * is void: read again. Its fields are those of the list that was found last.
 */
export class RowReader {
  readonly #words: Int32Array;
  readonly #nodePort = { a: 0, b: 0, c: 0, d: 0, meta: 0 };
  #listAt = 0;
  size = 0;
  row = 0;
  list: EndpointList = 'cluster';
  masquerade = false;
  /** The main thread chooses the endpoint, because it knows every client. */
  isSticky = false;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  begin(): number {
    for (;;) {
      const version = Atomics.load(this.#words, VERSION);
      if ((version & 1) === 0) return version;
      Atomics.wait(this.#words, VERSION, version, WRITE_WAIT_MS);
    }
  }

  isCurrent(version: number): boolean {
    return Atomics.load(this.#words, VERSION) === version;
  }

  /** The exact address first, then the node port. False: nothing is forwarded for this source class. */
  find(key: AddressKey, sourceIndex: number): boolean {
    const words = this.#words;
    this.#nodePort.meta = key.meta | NODE_PORT;
    const at = findFrontend(words, key) || findFrontend(words, this.#nodePort);
    if (at === 0) return false;
    const bits = load(words, at + TREATMENTS) >>> (sourceIndex * TREATMENT_BITS);
    if ((bits & FORWARDED) === 0) return false;
    this.masquerade = (bits & MASQUERADED) !== 0;
    this.open(load(words, at + ROW), (bits & LOCAL) === 0 ? 'cluster' : 'local');
    return true;
  }

  open(row: number, list: EndpointList): void {
    const at = listAt(row, list);
    this.row = row;
    this.list = list;
    this.isSticky = load(this.#words, ROWS + row * ROW_WORDS) !== 0;
    this.#listAt = LISTS + load(this.#words, at);
    this.size = load(this.#words, at + 1);
  }

  slotAt(index: number): number {
    return load(this.#words, this.#listAt + index);
  }
}
