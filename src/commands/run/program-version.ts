import { readFileSync } from 'node:fs';

/** Replaced when the program is bundled: a bundle has no package.json beside it. */
declare const FAIRLEAD_VERSION: string | undefined;

/** The version of kube-proxy whose interfaces Fairlead has. */
export const KUBE_PROXY_VERSION = 'v1.37.1';

export const VERSION: string =
  typeof FAIRLEAD_VERSION === 'string' ? FAIRLEAD_VERSION : versionOfSources();

function versionOfSources(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
