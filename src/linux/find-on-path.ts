import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The program as the folders of PATH have it, the first first; undefined: none has it. */
export function findOnPath(name: string, path = process.env['PATH'] ?? ''): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing or not executable: the next folder may have it.
    return false;
  }
}
