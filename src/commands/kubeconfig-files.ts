import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface KubeconfigPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Home of the user; undefined: not searched. */
  readonly home: string | undefined;
}

/**
 * The files that kubectl would merge by default: those of $KUBECONFIG, some of which may be
 * missing, else ~/.kube/config. In a pod the service account comes before ~/.kube/config, so that
 * commands in a pod use its own cluster. Empty: the service account.
 */
export function kubeconfigFiles({ env, home }: KubeconfigPlaces): readonly string[] {
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  const existing = named.filter((path) => existsSync(path));
  // If none exists, the first one is reported as missing.
  if (named.length > 0) return existing.length > 0 ? existing : named.slice(0, 1);
  const isInPod = (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  if (home === undefined || isInPod) return [];
  const own = join(home, '.kube/config');
  return existsSync(own) ? [own] : [];
}
