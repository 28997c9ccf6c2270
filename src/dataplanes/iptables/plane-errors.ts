import type { ServicePortKey } from '../../forwarding/model.ts';
import { IptablesError, type IptablesErrorCode } from '../../linux/iptables/errors.ts';
import { PlaneError } from '../contract.ts';

export function notInspected(): PlaneError {
  return new PlaneError('the tables have not been looked at yet', {
    code: 'IPTABLES_NOT_INSPECTED',
    next: 'this is a fault of the program: inspect comes before every other call',
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

/** The same error, which also names the rows of which the kernel may have a part. */
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
  const { message, code, next, culprit, cause } = error;
  const about = { code, next, cause, unknown };
  return new PlaneError(message, culprit === undefined ? about : { ...about, culprit });
}

const NEXT_OF_CODE: Readonly<Record<IptablesErrorCode, string>> = {
  IPTABLES_MISSING: 'install iptables 1.8 or later on the machine or in the image',
  IPTABLES_REFUSED: 'it is tried again; fairlead status shows what is pending',
  IPTABLES_LOCKED:
    'another program holds the xtables lock; it is tried again: `fuser /run/xtables.lock` names it',
  IPTABLES_INCOMPATIBLE:
    'move the rules that were made with `nft` into a table of their own; it is tried again',
  IPTABLES_UNCERTAIN: 'the tables are read again, and what is missing is written',
};
