import { PlaneError } from '../../../dataplanes/contract.ts';
import { notInspected as notInspectedError } from '../../../dataplanes/shared/rejections.ts';
import { BpfError } from '../../../linux/ebpf/bpf-error.ts';

/** Our own writes, for scans that run beside them. */
export class Writes {
  #generation = 0;
  #isUnderWay = false;

  /** Discard a scan if it changed meanwhile. */
  get generation(): number {
    return this.#generation;
  }

  /** A scan that begins now would see half of a write. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** A write beside the calls of the contract. */
  note(): void {
    this.#generation += 1;
  }

  /** Calls of the contract never overlap. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#generation += 1;
    this.#isUnderWay = true;
    try {
      return await work();
    } catch (error) {
      throw asPlaneError(error);
    } finally {
      this.#isUnderWay = false;
    }
  }
}

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
