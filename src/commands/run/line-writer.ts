import type { UnblockedOutput } from '../../linux/unblocked-output.ts';

export interface LineWriterOptions {
  readonly output: UnblockedOutput;
  /** The line with the number of lost lines. */
  readonly noticeOf: (droppedCount: number) => string;
}

interface WaitingLine {
  rest: Buffer;
  /** Whether some of it is written already. */
  isBegun: boolean;
  /** How many lost lines it reports; 0 for all but a notice. */
  readonly toldCount: number;
}

const MAX_WAITING_BYTES = 256 * 1024;
const RETRY_MS = 100;
const FLUSH_STEP_MS = 10;

/**
 * Writes lines synchronously, so that the last one before a crash is not lost, and never blocks:
 * lines that a stalled reader does not take are buffered up to a limit; beyond it, or if they cannot
 * be written at all, they are dropped and counted. The next line that succeeds reports the count.
 */
export class LineWriter {
  readonly #options: LineWriterOptions;
  readonly #waiting: WaitingLine[] = [];
  #waitingBytes = 0;
  #droppedCount = 0;
  #untoldCount = 0;
  /** The last line was cut in the middle: the next one begins on a new line. */
  #isCut = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  get droppedCount(): number {
    return this.#droppedCount;
  }

  /** Never throws. */
  write(line: string): void {
    this.#tellOfLoss();
    const bytes = Buffer.from(`${line}\n`);
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) this.#drop();
    else this.#enqueue(bytes);
    this.#drain();
  }

  /** At exit: waits for a slow reader, up to a deadline. */
  flush(withinMs: number): void {
    const giveUpAt = performance.now() + withinMs;
    const sleeper = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    this.#tellOfLoss();
    this.#drain();
    while (this.#waiting.length > 0 && performance.now() < giveUpAt) {
      Atomics.wait(sleeper, 0, 0, FLUSH_STEP_MS);
      this.#drain();
    }
  }

  /** Not behind buffered lines: more may be lost until those are written. */
  #tellOfLoss(): void {
    if (this.#untoldCount === 0 || this.#waiting.length > 0) return;
    const notice = `${this.#options.noticeOf(this.#untoldCount)}\n`;
    this.#enqueue(Buffer.from(notice), this.#untoldCount);
  }

  #enqueue(bytes: Buffer, toldCount = 0): void {
    this.#waiting.push({ rest: bytes, isBegun: false, toldCount });
    this.#waitingBytes += bytes.length;
  }

  #drop(): void {
    this.#droppedCount++;
    this.#untoldCount++;
  }

  #drain(): void {
    for (let line = this.#waiting[0]; line !== undefined; line = this.#waiting[0]) {
      const lengthBefore = line.rest.length;
      const result = this.#writeRest(line);
      this.#waitingBytes -= lengthBefore - line.rest.length;
      if (result === 'no room') {
        this.#retryLater();
        return;
      }
      this.#waiting.shift();
      this.#waitingBytes -= line.rest.length;
      if (result === 'written') this.#untoldCount -= line.toldCount;
      else if (line.toldCount === 0) this.#drop();
    }
  }

  #writeRest(line: WaitingLine): 'written' | 'failed' | 'no room' {
    const { output } = this.#options;
    if (this.#isCut) {
      const result = output.write(Buffer.from('\n'));
      if ('code' in result) return result.code === 'EAGAIN' ? 'no room' : 'failed';
      this.#isCut = false;
    }
    while (line.rest.length > 0) {
      const result = output.write(line.rest);
      if ('code' in result) {
        if (result.code === 'EAGAIN') return 'no room';
        this.#isCut = line.isBegun;
        return 'failed';
      }
      line.isBegun = true;
      line.rest = line.rest.subarray(result.writtenBytes);
    }
    return 'written';
  }

  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#drain();
      this.#tellOfLoss();
      this.#drain();
    }, RETRY_MS).unref();
  }
}
