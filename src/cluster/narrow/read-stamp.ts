import { arrayAt, isRecord, type JsonRecord, recordAt, textAt, timeMsAt } from '../json.ts';
import type { Stamp, Writer } from '../stamp.ts';

/** The API accepts no longer name of a manager. */
const LONGEST_TEXT = 128;
/** Writers of the same second that are told. */
const MOST_WRITERS = 3;
/** Entries that are read; the API server merges those of updates beyond ten. */
const MOST_READ = 64;
const NO_WRITERS: readonly Writer[] = Object.freeze([]);

const UNKNOWN_STAMP: Stamp = Object.freeze({ resourceVersion: '', writers: NO_WRITERS });

/** Reads `metadata.managedFields` without the fields themselves. Never throws. */
export function readStamp(raw: unknown): Stamp {
  if (!isRecord(raw)) return UNKNOWN_STAMP;
  const metadata = recordAt(raw, 'metadata');
  return {
    resourceVersion: textAt(metadata, 'resourceVersion').slice(0, LONGEST_TEXT),
    writers: lastWriters(metadata),
  };
}

function lastWriters(metadata: JsonRecord): readonly Writer[] {
  let last: Writer[] = [];
  let lastAtMs = Number.NEGATIVE_INFINITY;
  const entries = arrayAt(metadata, 'managedFields');
  for (let index = 0; index < entries.length && index < MOST_READ; index++) {
    const entry = entries[index];
    if (!isRecord(entry)) continue;
    const atMs = timeMsAt(entry, 'time');
    if (atMs === undefined || atMs < lastAtMs) continue;
    if (atMs > lastAtMs) last = [];
    lastAtMs = atMs;
    if (last.length < MOST_WRITERS) last.push(writerOf(entry, atMs));
  }
  return last.length === 0 ? NO_WRITERS : last;
}

function writerOf(entry: JsonRecord, atMs: number): Writer {
  return {
    manager: textAt(entry, 'manager').slice(0, LONGEST_TEXT),
    operation: textAt(entry, 'operation').slice(0, LONGEST_TEXT),
    subresource: textAt(entry, 'subresource').slice(0, LONGEST_TEXT),
    atMs,
  };
}
