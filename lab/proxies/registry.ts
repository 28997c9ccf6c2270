import { LabError } from '../host/errors.ts';
import { kernelHas } from '../host/kernel-parts.ts';
import type { ProxyVariant } from './contract.ts';
import { FAIRLEAD_VARIANTS } from './fairlead.ts';
import { UPSTREAM_VARIANTS } from './upstream.ts';

/** Every proxy that can be asked for by name. */
export const PROXY_VARIANTS: readonly ProxyVariant[] = [...UPSTREAM_VARIANTS, ...FAIRLEAD_VARIANTS];

/** Whether the kernel that this process runs in has all that the proxy needs. */
export function canRunHere({ kernelParts = [] }: ProxyVariant): boolean {
  return kernelParts.every(kernelHas);
}

export function findProxy(name: string): ProxyVariant {
  const variant = PROXY_VARIANTS.find((candidate) => candidate.name === name);
  if (variant) return variant;
  const known = PROXY_VARIANTS.map((candidate) => candidate.name).join(', ');
  throw new LabError('LAB_USAGE', `there is no proxy named '${name}'`, {
    next: `choose one of: none, ${known}`,
  });
}
