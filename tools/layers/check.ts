import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeFiles } from '../tree/code-files.ts';
import { type Import, readImports } from './imports.ts';
import { type Place, placeOf } from './places.ts';
import type { Layer } from './table.ts';
import { judge, type Verdict } from './verdict.ts';

export interface Violation extends Verdict {
  readonly file: string;
  readonly line: number;
  /** The import as written; undefined if the file itself is in no layer. */
  readonly imports: string | undefined;
  /** The row of the table that forbids it. */
  readonly row: string | undefined;
}

export interface Report {
  readonly filesByLayer: ReadonlyMap<string, number>;
  readonly files: number;
  readonly violations: readonly Violation[];
}

/** Checks every source file below `root` against the table. */
export async function checkLayers(root: string, layers: readonly Layer[]): Promise<Report> {
  const files = await codeFiles(root);
  const filesByLayer = new Map(layers.map((layer) => [layer.name, 0]));
  const violations: Violation[] = [];
  for (const file of files) {
    const place = placeOf(file, layers);
    if (place === undefined) {
      violations.push(homeless(file));
      continue;
    }
    filesByLayer.set(place.layer.name, (filesByLayer.get(place.layer.name) ?? 0) + 1);
    const source = await readFile(join(root, file), 'utf8');
    for (const read of readImports(source)) {
      const verdict = judge({ file, place, import: read, layers });
      if (verdict !== undefined) violations.push(violation({ file, place, read, verdict }));
    }
  }
  return { filesByLayer, files: files.length, violations };
}

function homeless(file: string): Violation {
  return {
    file,
    line: 1,
    imports: undefined,
    row: undefined,
    problem: 'it is in no layer',
    remedy: 'move it into a layer, or add a row for its folder to tools/layers/table.ts',
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
    row: place.layer.name,
    ...verdict,
  };
}
