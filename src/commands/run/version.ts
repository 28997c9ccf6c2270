import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Of the package that this file belongs to: in a bundle it lies less deep than in the sources. */
export const VERSION: string = versionAbove(import.meta.dirname);

function versionAbove(folder: string): string {
  const path = join(folder, 'package.json');
  if (existsSync(path))
    return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
  const parent = dirname(folder);
  // A bundle may be all there is on a machine; that is no reason not to serve it.
  return parent === folder ? 'unknown' : versionAbove(parent);
}
