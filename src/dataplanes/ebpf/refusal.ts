import { BpfError } from '../../linux/bpf/errors.ts';
import { PlaneError } from '../contract.ts';

/** What the kernel refused, in the words of the contract; any other error as it is. */
export function asPlaneError(error: unknown): unknown {
  if (!(error instanceof BpfError)) return error;
  const { message, code, next, detail } = error;
  const words = detail === undefined ? message : `${message}\n${detail}`;
  return new PlaneError(words, { code, next, cause: error });
}

export function notInspected(): PlaneError {
  return new PlaneError('the ebpf maps have not been inspected yet', {
    code: 'BPF_NOT_INSPECTED',
    next: 'report it as a bug of Fairlead: inspect must be the first call',
  });
}
