import { readFileSync } from 'node:fs';

/** Put in when the program is bundled: a bundle may be all there is on a machine. */
declare const FAIRLEAD_VERSION: string | undefined;

export const VERSION: string =
  typeof FAIRLEAD_VERSION === 'string' ? FAIRLEAD_VERSION : versionOfSources();

function versionOfSources(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
