import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface KubeconfigPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of the person at the terminal; undefined: do not look there. */
  readonly home: string | undefined;
}

/**
 * The files that kubectl would merge when none is named: those of $KUBECONFIG, of which some may be
 * missing, else ~/.kube/config. None at all means the service account of the pod, which comes before
 * the file in the home: a shell in a pod is for questions about its own cluster.
 */
export function kubeconfigFiles({ env, home }: KubeconfigPlaces): readonly string[] {
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  const existing = named.filter((path) => existsSync(path));
  // With none of them the first is the one to complain of.
  if (named.length > 0) return existing.length > 0 ? existing : named.slice(0, 1);
  const isInPod = (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  if (home === undefined || isInPod) return [];
  const own = join(home, '.kube/config');
  return existsSync(own) ? [own] : [];
}
