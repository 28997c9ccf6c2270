import type { ServicePortKey } from '../../forwarding/model.ts';
import { IptablesError, type IptablesErrorCode } from '../../linux/iptables/errors.ts';
import { PlaneError } from '../contract.ts';

export function notInspected(): PlaneError {
  return new PlaneError('the tables have not been inspected yet', {
    code: 'IPTABLES_NOT_INSPECTED',
    next: 'report it as a bug of Fairlead: inspect must be the first call',
  });
}

export function asPlaneError(error: unknown, culprit?: ServicePortKey): unknown {
  if (!(error instanceof IptablesError)) return error;
  return new PlaneError(`iptables: ${error.message}`, {
    code: error.code,
    next: NEXT_OF_CODE[error.code],
    cause: error,
    ...(culprit === undefined ? {} : { culprit }),
  });
}

const NEXT_OF_CODE: Readonly<Record<IptablesErrorCode, string>> = {
  IPTABLES_MISSING: 'install iptables 1.8 or later on the machine or in the image',
  IPTABLES_REFUSED: 'retried automatically; `fairlead status` shows what is pending',
  IPTABLES_LOCKED:
    'retried automatically; if it persists, `fuser /run/xtables.lock` shows the process that holds the lock',
  IPTABLES_INCOMPATIBLE:
    'move rules that were made with `nft` into a table of their own; retried automatically',
  IPTABLES_UNCERTAIN: 'no action needed: the tables are read again and repaired',
};
