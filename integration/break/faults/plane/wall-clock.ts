import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../../../lab/host/run.ts';

const SOURCE = fileURLToPath(new URL('wall-clock.c', import.meta.url));
const OFFSET_BYTES = 8;

/** The wall clock of processes that are started with `env`. Every other process keeps its own. */
export class WallClock {
  readonly #library: string;
  readonly #offsetFile: string;
  #aheadSeconds = 0n;

  constructor(folder: string) {
    this.#library = join(folder, 'wall-clock.so');
    this.#offsetFile = join(folder, 'wall-clock.offset');
  }

  async prepare(): Promise<void> {
    await writeFile(this.#offsetFile, Buffer.alloc(OFFSET_BYTES));
    const flags = ['-O2', '-Wall', '-Werror', '-shared', '-fPIC'];
    await run(['clang', ...flags, '-o', this.#library, SOURCE]);
  }

  get env(): Readonly<Record<string, string>> {
    return { LD_PRELOAD: this.#library, FAIRLEAD_WALL_CLOCK: this.#offsetFile };
  }

  /** As those processes see it. */
  nowMs(): number {
    return Date.now() + Number(this.#aheadSeconds) * 1_000;
  }

  /** Written in place: the file is mapped. */
  async jump(bySeconds: number): Promise<void> {
    this.#aheadSeconds += BigInt(bySeconds);
    const bytes = Buffer.alloc(OFFSET_BYTES);
    bytes.writeBigInt64LE(this.#aheadSeconds);
    await using file = await open(this.#offsetFile, 'r+');
    await file.write(bytes, 0, OFFSET_BYTES, 0);
  }
}
