import type { Difference } from '../../../../dataplanes/contract.ts';
import type { Differences } from '../../../../dataplanes/differences.ts';
import { endpointKey } from '../../../../forwarding/endpoints.ts';
import { type Forwarding, servicePortKey, servicePortName } from '../../../../forwarding/model.ts';
import type { Binary } from './binary.ts';
import { frontendText, frontendValueText, slotText, wordsOf } from './entry-text.ts';
import { bytesOf, CLASS_ORDER, SLOT, wordsIn } from './layout.ts';
import {
  frontendKeyOf,
  frontendValueOf,
  type Sequence,
  sequenceOf,
  servedFrontends,
  writeSlot,
} from './map-row.ts';
import type { PodNetwork } from './pod-network-entry.ts';
import type { SlotRange } from './slot-space.ts';

/** A row compared with what the maps have of it. */
export interface ComparedRow {
  readonly isRight: boolean;
  /** Where its endpoints are; undefined: it has none, or they are not right. */
  readonly list?: SlotRange;
  readonly presentKeys: readonly Binary[];
}

/** Compares rows with the entries of the maps. */
export class Comparison {
  readonly #frontends: Map<Binary, Buffer>;
  readonly #slots: Buffer;
  readonly #differences: Differences;
  readonly #podNetwork: PodNetwork | undefined;
  readonly #takenFirsts = new Set<number>();
  readonly #expected = new Int32Array(wordsIn(SLOT));
  readonly #expectedBytes = bytesOf(this.#expected);

  constructor(parts: {
    /** All that the kernel has; those that rows want are taken out. */
    readonly frontends: Map<Binary, Buffer>;
    readonly slots: Buffer;
    readonly differences: Differences;
    readonly podNetwork: PodNetwork | undefined;
  }) {
    this.#frontends = parts.frontends;
    this.#slots = parts.slots;
    this.#differences = parts.differences;
    this.#podNetwork = parts.podNetwork;
  }

  compare(row: Forwarding): ComparedRow {
    const served = servedFrontends(row);
    const sequence = sequenceOf(row, served, this.#podNetwork);
    const keys = served.map((frontend) => frontendKeyOf(row, frontend));
    const held = keys.map((key) => this.#take(key.toString('latin1')));
    const first = firstSlot(held, served, sequence);
    const isListRight = sequence.endpoints.length === 0 || this.#hasList(first, sequence);
    if (!isListRight) this.#listDiffers(row, first, sequence);
    let isRight = isListRight;
    served.forEach((frontend, index) => {
      const key = keys[index] as Buffer;
      const value = held[index];
      const expected = frontendValueOf({ row, frontend, sequence, first: first ?? 0 });
      if (value?.equals(expected)) return;
      isRight = false;
      const isShown = value && !this.#differences.isFull;
      const values = isShown
        ? { wanted: [frontendValueText(expected)], found: [frontendValueText(value)] }
        : {};
      this.#differ(value ? 'different' : 'missing', frontendText(key), { row, ...values });
    });
    const presentKeys = keys.flatMap((key, i) => (held[i] ? [key.toString('latin1')] : []));
    const length = sequence.endpoints.length;
    if (!isRight || length === 0) return { isRight, presentKeys };
    return { isRight, presentKeys, list: { first: first ?? 0, length } };
  }

  /** What belongs to no row; call it when every row was compared. */
  leftovers(): IterableIterator<[Binary, Buffer]> {
    return this.#frontends.entries();
  }

  noteLeftovers(): void {
    for (const [key] of this.#frontends) {
      this.#differ('foreign', frontendText(Buffer.from(key, 'latin1')));
    }
  }

  #take(key: Binary): Buffer | undefined {
    const value = this.#frontends.get(key);
    this.#frontends.delete(key);
    return value;
  }

  #hasList(first: number | undefined, { endpoints }: Sequence): boolean {
    if (first === undefined || first < 0 || this.#takenFirsts.has(first)) return false;
    if ((first + endpoints.length) * SLOT.bytes > this.#slots.length) return false;
    this.#takenFirsts.add(first);
    return endpoints.every((endpoint, index) => {
      writeSlot(this.#expected, 0, endpoint);
      const at = (first + index) * SLOT.bytes;
      const upTo = at + SLOT.connections;
      return this.#slots.compare(this.#expectedBytes, 0, SLOT.connections, at, upTo) === 0;
    });
  }

  #listDiffers(row: Forwarding, first: number | undefined, { endpoints }: Sequence): void {
    const object = `ebpf slots of ${servicePortKey(row.id)}`;
    if (first === undefined || this.#differences.isFull) {
      this.#differ(first === undefined ? 'missing' : 'different', object, { row });
      return;
    }
    const found = endpoints.flatMap((_, index) => slotText(this.#slots, first + index) ?? []);
    this.#differ('different', object, { row, wanted: endpoints.map(endpointKey), found });
  }

  #differ(
    kind: Difference['kind'],
    object: string,
    { row, ...values }: { row?: Forwarding } & Pick<Difference, 'wanted' | 'found'> = {},
  ): void {
    const service = row === undefined ? {} : { service: servicePortName(row.id) };
    this.#differences.add(() => ({ kind, object, ...service, ...values }));
  }
}

/** Where the endpoints of a row begin, by the first outcome that leads to any. */
function firstSlot(
  held: readonly (Buffer | undefined)[],
  served: Forwarding['frontends'],
  { lists }: Sequence,
): number | undefined {
  for (const [index, value] of held.entries()) {
    if (value === undefined) continue;
    const outcomes = served[index]?.outcomes;
    for (const [place, word] of wordsOf(value).entries()) {
      const outcome = outcomes?.[CLASS_ORDER[place] ?? 'pod'];
      if (word.count === 0 || outcome?.action !== 'forward') continue;
      return word.first - lists[outcome.list].offset;
    }
  }
  return undefined;
}
