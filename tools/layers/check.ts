import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeFiles } from '../tree/code-files.ts';
import { type Import, readImports } from './imports.ts';
import { type Place, placeOf } from './places.ts';
import type { Room } from './table.ts';
import { judge, type Verdict } from './verdict.ts';

export interface Violation extends Verdict {
  readonly file: string;
  readonly line: number;
  /** The import as written; nothing when the file itself stands in no room. */
  readonly imports: string | undefined;
  /** The row of the table that forbids it. */
  readonly row: string | undefined;
}

export interface Report {
  readonly filesByRoom: ReadonlyMap<string, number>;
  readonly files: number;
  readonly violations: readonly Violation[];
}

/** Holds every source file below `root` to the table. */
export async function checkLayers(root: string, rooms: readonly Room[]): Promise<Report> {
  const files = await codeFiles(root);
  const filesByRoom = new Map(rooms.map((room) => [room.name, 0]));
  const violations: Violation[] = [];
  for (const file of files) {
    const place = placeOf(file, rooms);
    if (place === undefined) {
      violations.push(homeless(file));
      continue;
    }
    filesByRoom.set(place.room.name, (filesByRoom.get(place.room.name) ?? 0) + 1);
    const source = await readFile(join(root, file), 'utf8');
    for (const read of readImports(source)) {
      const verdict = judge({ file, place, import: read, rooms });
      if (verdict !== undefined) violations.push(violation({ file, place, read, verdict }));
    }
  }
  return { filesByRoom, files: files.length, violations };
}

function homeless(file: string): Violation {
  return {
    file,
    line: 1,
    imports: undefined,
    row: undefined,
    problem: 'it is in no room',
    remedy: 'move it into a room, or give its folder a row in tools/layers/table.ts',
  };
}

interface Found {
  readonly file: string;
  readonly place: Place;
  readonly read: Import;
  readonly verdict: Verdict;
}

function violation({ file, place, read, verdict }: Found): Violation {
  return {
    file,
    line: read.line,
    imports: read.kind === 'unreadable' ? read.written : read.specifier,
    row: place.room.name,
    ...verdict,
  };
}
