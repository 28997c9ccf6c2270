import { constants } from 'node:buffer';
import { arrayAt, isRecord, parseJson, recordAt, textAt } from '../json.ts';
import { readStatus, readWatchEvent, type WatchEvent } from '../watch-event.ts';
import type { Encoding, EventReader, RawList } from './encoding.ts';

const NEWLINE = 0x0a;

interface LineSplitterOptions {
  /** Longer lines are dropped, so that a stream without newlines cannot fill the memory. */
  readonly maxLineBytes?: number;
}

/** The largest object etcd takes is 1.5 MB by default; JSON and metadata around it are not more. */
const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Splits a stream into lines. Scans each byte once, and copies only lines that span chunks, once
 * each.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #skipping = false;

  constructor(options: LineSplitterOptions = {}) {
    this.#maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
  }

  /**
   * The lines that this chunk completes, without newlines; empty lines are omitted. Undefined
   * stands for a line that was too long.
   */
  *push(chunk: Buffer): Generator<Buffer | undefined, void> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      const line = this.#complete(chunk.subarray(start, end));
      start = end + 1;
      if (line?.length !== 0) yield line;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  #complete(last: Buffer): Buffer | undefined {
    if (this.#skipping) {
      this.#skipping = false;
      return undefined;
    }
    if (this.#pending.length === 0) return last;
    const line = Buffer.concat([...this.#pending, last], this.#pendingBytes + last.length);
    this.#forget();
    return line;
  }

  #keep(part: Buffer): void {
    if (this.#skipping) return;
    this.#pending.push(part);
    this.#pendingBytes += part.length;
    if (this.#pendingBytes <= this.#maxLineBytes) return;
    this.#forget();
    this.#skipping = true;
  }

  #forget(): void {
    this.#pending = [];
    this.#pendingBytes = 0;
  }
}

export const JSON_ENCODING: Encoding = {
  mediaType: 'application/json',
  readList: (body) => readList(parsed(body)),
  events: () => readLines(new LineSplitter()),
  readStatus: (body) => readStatus(parsed(body)),
};

/** One event, without its newline. */
export function readLine(line: Buffer): WatchEvent | undefined {
  return readWatchEvent(parsed(line));
}

function readLines(lines: LineSplitter): EventReader {
  return {
    *push(chunk) {
      for (const line of lines.push(chunk)) yield line && readLine(line);
    },
  };
}

function parsed(bytes: Buffer): unknown {
  // Longer than the longest string: toString would throw.
  if (bytes.length > constants.MAX_STRING_LENGTH) return undefined;
  return parseJson(bytes.toString('utf8'))?.value;
}

function readList(list: unknown): RawList | undefined {
  if (!isRecord(list) || !Array.isArray(list['items'])) return undefined;
  const metadata = recordAt(list, 'metadata');
  return {
    resourceVersion: textAt(metadata, 'resourceVersion'),
    next: textAt(metadata, 'continue'),
    items: arrayAt(list, 'items'),
  };
}
