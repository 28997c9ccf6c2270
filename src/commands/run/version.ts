import { readFileSync } from 'node:fs';

/** Put in when the program is bundled: a bundle may be all there is on a machine. */
declare const FAIRLEAD_VERSION: string | undefined;

/** The kube-proxy whose interfaces these are, and that Fairlead stands in for. */
export const KUBE_PROXY_VERSION = 'v1.37.1';

export const VERSION: string =
  typeof FAIRLEAD_VERSION === 'string' ? FAIRLEAD_VERSION : versionOfSources();

function versionOfSources(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
