import { PlaneError } from '../../../dataplanes/contract.ts';
import { notInspected as notInspectedError } from '../../../dataplanes/shared/rejections.ts';
import { BpfError } from '../../../linux/ebpf/errors.ts';

/** A rejection by the kernel as an error of the contract; any other error as it is. */
export function asPlaneError(error: unknown): unknown {
  if (!(error instanceof BpfError)) return error;
  const { message, code, next, detail } = error;
  const words = detail === undefined ? message : `${message}\n${detail}`;
  return new PlaneError(words, { code, next, cause: error });
}

export function notInspected(): PlaneError {
  return notInspectedError('maps', 'BPF_NOT_INSPECTED');
}
