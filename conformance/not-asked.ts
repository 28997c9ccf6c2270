import { missingOfKernel } from '../lab/host/kernel-parts.ts';
import type { ProxyVariant } from '../lab/proxies/contract.ts';
import type { Scenario } from './scenario.ts';

/** Why a scenario cannot be asked of a proxy in this kernel; undefined: it can. */
export function whyNotAsked(
  { setup = {} }: Scenario,
  { name }: Pick<ProxyVariant, 'name'>,
): string | undefined {
  const { only, kernel = [] } = setup;
  if (only && !only.proxies.includes(name)) return only.reason;
  return missingOfKernel(kernel);
}
