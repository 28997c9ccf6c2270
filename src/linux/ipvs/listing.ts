import { closeSync, openSync, readSync } from 'node:fs';
import { systemCode } from '../sysctl-error.ts';
import { IpvsError } from './ipvs-error.ts';

/**
 * The configuration of a network namespace as text: one file is a fraction of the cost of a question
 * for the destinations of each virtual server. Where another network namespace has virtual servers
 * too, the kernel leaves some out, as seen in 6.1: 222 of 400 were listed.
 */
const PATH = '/proc/thread-self/net/ip_vs';
const FIRST_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
/** A read gives 4 KiB: this many take about a millisecond. */
const READS_AT_ONCE = 32;

/** One line of the listing, without its end. Lent. */
export type OnLine = (bytes: Buffer, from: number, to: number) => void;

/** Calls back with every line. Opened in the thread that calls, whose network namespace it shows. */
export async function readListing(
  onLine: OnLine,
  { mostReads = Number.POSITIVE_INFINITY }: { readonly mostReads?: number } = {},
): Promise<void> {
  const fd = openListing();
  try {
    const lines = new Lines(onLine);
    for (let reads = 1; reads <= mostReads; reads++) {
      if (lines.take((into) => readSync(fd, into)) === 0) return;
      if (reads % READS_AT_ONCE === 0) await nextIteration();
    }
  } finally {
    closeSync(fd);
  }
}

function openListing(): number {
  try {
    return openSync(PATH, 'r');
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    throw new IpvsError('IPVS_MISSING', { cause: error });
  }
}

/** Cuts what is read into lines; keeps the begin of a line whose end is still to come. */
class Lines {
  readonly #onLine: OnLine;
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #kept = 0;

  constructor(onLine: OnLine) {
    this.#onLine = onLine;
  }

  take(read: (into: Buffer) => number): number {
    if (this.#kept === this.#bytes.length) this.#grow();
    const length = read(this.#bytes.subarray(this.#kept));
    const end = this.#kept + length;
    let from = 0;
    for (;;) {
      const at = this.#bytes.indexOf(NEWLINE, from);
      if (at < 0 || at >= end) break;
      this.#onLine(this.#bytes, from, at);
      from = at + 1;
    }
    this.#bytes.copyWithin(0, from, end);
    this.#kept = end - from;
    return length;
  }

  #grow(): void {
    const larger = Buffer.allocUnsafeSlow(this.#bytes.length * 2);
    this.#bytes.copy(larger, 0, 0, this.#kept);
    this.#bytes = larger;
  }
}

function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
