import { isRecord, recordAt } from '../../../src/cluster/json.ts';
import type { SourceEvent } from '../../../src/cluster/source.ts';
import type { WatchEvent } from '../../../src/cluster/watch-event.ts';
import type { Encoding } from '../../../src/cluster/wire/encoding.ts';
import { BrokenInvariant, MemoryGrowth } from './broken.ts';

/** A fault on the way of an object, where the real way has none. */
export interface Sabotage {
  readonly beforePut?: (raw: unknown) => void;
  /** True: the table never hears of it. */
  readonly forgets?: (event: SourceEvent) => boolean;
  readonly onChunk?: (chunk: Buffer) => Buffer;
  /** In place of the decoder of protobuf, for single objects. */
  readonly decoder?: (encoding: Encoding) => Encoding;
}

export interface PlantedFault {
  readonly name: string;
  readonly sabotage: () => Sabotage;
  /** How it must show: found for another reason, it was not found. */
  readonly showsAs: abstract new (
    ...args: never[]
  ) => Error;
}

export const NO_SABOTAGE: Sabotage = {};

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'the reader of Services trusts in ports not to be null',
    sabotage: () => ({ beforePut: (raw) => void countPorts(raw) }),
    showsAs: TypeError,
  },
  {
    name: 'the table misses that a slice without endpoints was told',
    sabotage: () => ({
      forgets: (event) =>
        event.kind === 'slice' && event.type === 'put' && event.object.endpoints.length === 0,
    }),
    showsAs: BrokenInvariant,
  },
  {
    name: 'every object that was ever told is kept',
    sabotage: () => {
      const kept: unknown[] = [];
      return { beforePut: (raw) => void kept.push(raw) };
    },
    showsAs: MemoryGrowth,
  },
  {
    name: 'the reader of watches takes the end of a chunk for that of a line',
    sabotage: () => ({ onChunk: (chunk) => Buffer.concat([chunk, Buffer.from('\n')]) }),
    showsAs: BrokenInvariant,
  },
  {
    name: 'the decoder of protobuf throws at a message that is no message',
    sabotage: () => ({ decoder: (encoding) => decodingBy(encoding, thrownIfMalformed) }),
    showsAs: RangeError,
  },
  {
    name: 'the decoder of protobuf keeps one item of each list',
    sabotage: () => ({ decoder: (encoding) => decodingBy(encoding, withShortLists) }),
    showsAs: BrokenInvariant,
  },
];

type Decoded = WatchEvent | undefined;

function decodingBy(encoding: Encoding, change: (event: Decoded) => Decoded): Encoding {
  const events: Encoding['events'] = (kind) => {
    const reader = encoding.events(kind);
    return { push: (chunk) => [...reader.push(chunk)].map(change) };
  };
  return { ...encoding, events };
}

function thrownIfMalformed(event: Decoded): Decoded {
  if (event === undefined) throw new RangeError('a field is longer than its message');
  return event;
}

function withShortLists(event: Decoded): Decoded {
  const text = JSON.stringify(event, (_, value: unknown) =>
    Array.isArray(value) ? value.slice(-1) : value,
  );
  return text === undefined ? undefined : (JSON.parse(text) as WatchEvent);
}

function countPorts(raw: unknown): number {
  const ports = isRecord(raw) ? recordAt(raw, 'spec')['ports'] : undefined;
  return ports === undefined ? 0 : (ports as unknown[]).length;
}
