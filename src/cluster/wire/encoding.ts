import type { Kind } from '../kinds.ts';
import type { StatusObject, WatchEvent } from '../watch-event.ts';

/** A list of the API, before anything of its objects has been looked at. */
export interface RawList {
  /** Empty: it says none. */
  readonly resourceVersion: string;
  /** Where the next page begins; empty: this is the last. */
  readonly next: string;
  readonly items: readonly unknown[];
}

/** Reads the stream of a watch, in whatever pieces it comes. */
export interface EventReader {
  /** The events that this piece completes; undefined stands for one that cannot be read. */
  push(chunk: Buffer): Iterable<WatchEvent | undefined>;
}

/**
 * How objects are written on the wire. Either way they are read into the shape that they have in
 * JSON, so that whatever is made of them is written once. None of these throws: what cannot be read
 * is undefined.
 */
export interface Encoding {
  readonly mediaType: string;
  readList(body: Buffer, kind: Kind): RawList | undefined;
  events(kind: Kind): EventReader;
  readStatus(body: Buffer): StatusObject;
}
