import { constants } from 'node:buffer';
import { arrayAt, isRecord, parseJson, recordAt, textAt } from '../json.ts';
import { readStatus, readWatchEvent, type WatchEvent } from '../watch-event.ts';
import type { Encoding, EventReader, RawList } from './encoding.ts';
import { LineSplitter } from './lines.ts';

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
