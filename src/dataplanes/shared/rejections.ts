import type { ServicePortKey } from '../../forwarding/model.ts';
import type { NftRejection } from '../../linux/nftables/connection.ts';
import { PlaneError } from '../contract.ts';

/**
 * The row whose part of a batch the kernel rejected; undefined where that part belongs to no row.
 */
export function culpritOf({ owner }: NftRejection): { readonly culprit?: ServicePortKey } {
  return owner === undefined || owner === '' ? {} : { culprit: owner };
}

/** `what`: that the first inspection reads. */
export function notInspected(what: 'tables' | 'maps', code: string): PlaneError {
  return new PlaneError(`the ${what} have not been inspected yet`, {
    code,
    next: 'report it as a bug of Fairlead: inspect must come before every other call',
  });
}
