import type { FingerprintExtent, IpvsFingerprint } from '../../../linux/ipvs/ipvs-model.ts';
import { asPlaneError } from './ipvs-rejection.ts';
import type { Kernel } from './ipvs-writer.ts';

export interface PrintWatchParts {
  readonly kernel: Kernel;
  /** Nothing is compared before the first inspection. */
  readonly isInspected: () => boolean;
  readonly deleteDrained: () => Promise<void>;
  readonly report: (what: string) => void;
}

/** Compares fingerprints of IPVS, which has no events, and reports changes by other processes. */
export class PrintWatch {
  readonly #kernel: Kernel;
  readonly #parts: PrintWatchParts;

  constructor(parts: PrintWatchParts) {
    this.#kernel = parts.kernel;
    this.#parts = parts;
  }

  /** Whether it could compare: not while rows are written. */
  async compareBegin(): Promise<boolean> {
    const begin = await this.#fingerprint('begin');
    if (begin === undefined) return false;
    if (this.#kernel.print.isForeignBegin(begin) && !(await this.#isOfDrained())) this.#lost();
    return true;
  }

  async compareWhole(): Promise<boolean> {
    const found = await this.#fingerprint('whole');
    if (found === undefined) return false;
    const { print } = this.#kernel;
    if (print.isForeign(found) && !(await this.#isOfDrained())) this.#lost();
    return true;
  }

  /** Whether destinations that drain were deleted meanwhile: for UDP flows, or by this very pass. */
  async #isOfDrained(): Promise<boolean> {
    const { print } = this.#kernel;
    const { generation } = print;
    await this.#parts.deleteDrained();
    if (generation === print.generation) return false;
    const again = await this.#fingerprint('whole');
    return again === undefined || !print.isForeign(again);
  }

  #lost(): void {
    this.#kernel.print.forget();
    this.#parts.report('virtual servers of IPVS were changed by another process');
  }

  /** Undefined: nothing was inspected yet, or a write of ours came between. */
  async #fingerprint(extent: FingerprintExtent): Promise<IpvsFingerprint | undefined> {
    const { print, ipvs } = this.#kernel;
    const { generation } = print;
    if (!this.#parts.isInspected()) return undefined;
    try {
      const found = await ipvs.fingerprint(extent);
      return generation === print.generation ? found : undefined;
    } catch (error) {
      throw asPlaneError(error);
    }
  }
}
