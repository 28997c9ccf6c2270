import type { Kind } from '../object-kinds.ts';
import type { StatusObject, WatchEvent } from '../watch-event.ts';

/** A list whose objects have not been decoded. */
export interface RawList {
  /** Empty: none given. */
  readonly resourceVersion: string;
  /** The continue token; empty: this is the last page. */
  readonly next: string;
  readonly items: readonly unknown[];
}

/** Decodes the stream of a watch, in chunks of any size. */
export interface EventReader {
  /** The events that this chunk completes; undefined for an event that cannot be decoded. */
  push(chunk: Buffer): Iterable<WatchEvent | undefined>;
}

/**
 * An encoding of API responses. Objects are decoded into their JSON shape, so that narrowing exists
 * once. Nothing here throws: undefined means not decodable.
 */
export interface Encoding {
  readonly mediaType: string;
  readList(body: Buffer, kind: Kind): RawList | undefined;
  events(kind: Kind): EventReader;
  readStatus(body: Buffer): StatusObject;
}
