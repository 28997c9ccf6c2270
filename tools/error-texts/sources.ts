import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeFiles } from '../tree/code-files.ts';

const SHIPPED = /^src\/(?!.*(?:\.test\.ts$|\/testing\/))/;

/** The source files that a user runs, by path. */
export async function shippedSources(root: string): Promise<Map<string, string>> {
  const files = (await codeFiles(root)).filter((file) => SHIPPED.test(file));
  const read = files.map(async (file) => [file, await readFile(join(root, file), 'utf8')] as const);
  return new Map(await Promise.all(read));
}
