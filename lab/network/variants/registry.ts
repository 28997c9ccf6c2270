import { LabError } from '../../host/errors.ts';
import type { NetworkVariant } from './contract.ts';
import { docker } from './docker.ts';
import { plain } from './plain.ts';
import { podPolicy } from './pod-policy.ts';
import { twoUplinks } from './two-uplinks.ts';
import { vxlan } from './vxlan.ts';

/** Every network that can be asked for by name. */
export const NETWORK_VARIANTS: readonly NetworkVariant[] = [
  plain,
  vxlan,
  docker,
  podPolicy,
  twoUplinks,
];

export const DEFAULT_NETWORK = plain.name;

export function findNetwork(name: string): NetworkVariant {
  const variant = NETWORK_VARIANTS.find((candidate) => candidate.name === name);
  if (variant) return variant;
  const known = NETWORK_VARIANTS.map((candidate) => candidate.name).join(', ');
  throw new LabError('LAB_USAGE', `there is no network named '${name}'`, {
    next: `choose one of: ${known}`,
  });
}
