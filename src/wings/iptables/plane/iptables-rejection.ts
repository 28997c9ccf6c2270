import { PlaneError } from '../../../dataplanes/contract.ts';
import {
  notInspected as notInspectedError,
  withUnknown as withUnknownRows,
} from '../../../dataplanes/shared/rejections.ts';
import type { ServicePortKey } from '../../../forwarding/model.ts';
import { IptablesError, type IptablesErrorCode } from '../../../linux/xtables/iptables-error.ts';

export function notInspected(): PlaneError {
  return notInspectedError('tables', 'IPTABLES_NOT_INSPECTED');
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

/** The same error, which also names the rows that the kernel may have in part. */
export function withUnknown(error: unknown, keys: readonly ServicePortKey[]): unknown {
  if (keys.length === 0) return error;
  const unknown = new Set(keys);
  if (!(error instanceof PlaneError)) {
    const next = 'report it as a bug of Fairlead, with the log';
    return new PlaneError('iptables: a transaction failed unexpectedly', {
      code: 'PLANE_UNEXPECTED',
      next,
      cause: error,
      unknown,
    });
  }
  return withUnknownRows(error, unknown);
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
