import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Token, tokens } from '../layers/tokens.ts';
import { codeFiles } from '../tree/code-files.ts';

export interface Report {
  readonly fileCount: number;
  /** `file:line` of each reading in a file that is not named. */
  readonly violations: readonly string[];
  /** Files that are named and do not read it. */
  readonly unused: readonly string[];
}

const CHECKED = /^src\/(?!.*(?:\.test\.ts$|\/testing\/))/;

/** Waits and ages follow a clock that may be set as soon as one of them reads it. */
export async function checkWallClock(
  root: string,
  readers: Readonly<Record<string, string>>,
): Promise<Report> {
  const files = (await codeFiles(root)).filter((file) => CHECKED.test(file));
  const readings = await Promise.all(
    files.map(async (file) => {
      const source = await readFile(join(root, file), 'utf8');
      return wallClockLines(source).map((line) => ({ file, line }));
    }),
  );
  const all = readings.flat();
  const strangers = all.filter(({ file }) => readers[file] === undefined);
  return {
    fileCount: files.length,
    violations: strangers.map(({ file, line }) => `${file}:${line}`),
    unused: Object.keys(readers).filter((name) => !all.some(({ file }) => file === name)),
  };
}

/** Lines that ask what time of the day it is, by whatever name. */
export function wallClockLines(source: string): number[] {
  const all = tokens(source);
  return all.flatMap((token, at) =>
    isReading(token, all.slice(at + 1, at + 3)) ? token.line : [],
  );
}

function isReading({ kind, text }: Token, [first, second]: readonly Token[]): boolean {
  if (kind !== 'word') return false;
  if (text === 'wallMs') return first?.text === '(';
  if (text === 'timeOrigin') return true;
  if (text !== 'Date') return false;
  // A date of something that is known already reads no clock.
  const isNow = first?.text === '.' && second?.text === 'now';
  return isNow || (first?.text === '(' && second?.text === ')') || first?.text === ';';
}
