import { LabError } from '../../host/errors.ts';
import type { RealProxy } from './contract.ts';
import { FAIRLEAD_PROXIES } from './fairlead.ts';
import { UPSTREAM_PROXIES } from './upstream.ts';

/** Every proxy that a cluster with real nodes can run, by name. */
export const REAL_PROXIES: readonly RealProxy[] = [...UPSTREAM_PROXIES, ...FAIRLEAD_PROXIES];

export function findRealProxy(name: string): RealProxy {
  const proxy = REAL_PROXIES.find((candidate) => candidate.name === name);
  if (proxy) return proxy;
  const known = REAL_PROXIES.map((candidate) => candidate.name).join(', ');
  throw new LabError('LAB_USAGE', `real nodes cannot run a proxy named '${name}'`, {
    next: `choose one of: ${known}`,
  });
}
