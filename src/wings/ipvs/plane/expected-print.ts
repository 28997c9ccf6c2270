import type {
  Ipvs,
  IpvsFingerprint,
  IpvsRejection,
  IpvsWrite,
} from '../../../linux/ipvs/ipvs-model.ts';

type Counts = Pick<IpvsFingerprint, 'virtualServers' | 'destinations'>;

/**
 * The fingerprint that IPVS has while no other process writes. Our own writes change the digest in
 * ways that are not followed, and the counts exactly: so the loss of everything is found even where
 * something is written between any two polls.
 */
export class ExpectedPrint {
  #generation = 0;
  #counts: Counts | undefined;
  #digest: string | undefined;
  /** Of the begin of the kernel's listing. */
  #begin: string | undefined;

  /** Discard a fingerprint if it changed meanwhile. */
  get generation(): number {
    return this.#generation;
  }

  /** Writes, and follows what was accepted. */
  async during(ipvs: Ipvs, writes: readonly IpvsWrite[]): Promise<readonly IpvsRejection[]> {
    if (writes.length === 0) return [];
    this.#generation += 1;
    this.#digest = undefined;
    this.#begin = undefined;
    try {
      const rejections = await ipvs.write(writes);
      for (const write of writes) this.#follow(write, 1);
      for (const { write } of rejections) this.#follow(write, -1);
      return rejections;
    } catch (error) {
      this.forget();
      throw error;
    } finally {
      this.#generation += 1;
    }
  }

  /** Whether another process has changed something. The first one is believed. */
  isForeign(print: IpvsFingerprint): boolean {
    if (this.#digest !== undefined && this.#digest !== print.digest) return true;
    if (this.#counts && !isSame(this.#counts, print)) return true;
    this.believe(print);
    return false;
  }

  /** The same for the begin of the listing, of which only the digest and emptiness are followed. */
  isForeignBegin({ digest, virtualServers }: IpvsFingerprint): boolean {
    const isEmptied = virtualServers === 0 && (this.#counts?.virtualServers ?? 0) > 0;
    if (isEmptied || (this.#begin !== undefined && this.#begin !== digest)) {
      this.#begin = undefined;
      return true;
    }
    this.#begin = digest;
    return false;
  }

  believe({ digest, virtualServers, destinations }: IpvsFingerprint): void {
    this.#digest = digest;
    this.#counts = { virtualServers, destinations };
  }

  /** Destinations that drain were deleted beside us, for their UDP flows. */
  noteDeleted(count: number): void {
    if (count === 0) return;
    this.#generation += 1;
    this.#digest = undefined;
    this.#begin = undefined;
    if (this.#counts) {
      const { virtualServers, destinations } = this.#counts;
      this.#counts = { virtualServers, destinations: destinations - count };
    }
  }

  forget(): void {
    this.#generation += 1;
    this.#digest = undefined;
    this.#begin = undefined;
    this.#counts = undefined;
  }

  #follow(write: IpvsWrite, by: 1 | -1): void {
    if (this.#counts === undefined) return;
    const { virtualServers, destinations } = this.#counts;
    const added = { add: by, delete: -by, set: 0 }[write.do.split('-')[0] as 'add'];
    this.#counts =
      'destination' in write
        ? { virtualServers, destinations: destinations + added }
        : { virtualServers: virtualServers + added, destinations };
  }
}

function isSame(a: Counts, b: Counts): boolean {
  return a.virtualServers === b.virtualServers && a.destinations === b.destinations;
}
