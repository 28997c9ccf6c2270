import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Origin } from './origin.ts';
import { formatPins, parsePins } from './pins.ts';

const PATH = join(import.meta.dirname, 'pins.txt');

export async function readPins(): Promise<Origin[]> {
  return parsePins(await readFile(PATH, 'utf8'));
}

export async function writePins(pins: readonly Origin[]): Promise<string> {
  await writeFile(PATH, formatPins(pins));
  return PATH;
}
