const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const END_OF_LINE = '\x1b[K';
const END_OF_SCREEN = '\x1b[J';
const USUAL_ROWS = 24;
const USUAL_COLUMNS = 80;

/** A terminal that is written to. */
export interface ScreenStream {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/**
 * Draws pages over each other on the alternate screen, so that the shell's own output is there again
 * afterwards. Lines must not hold characters that act on a terminal, other than our own colours.
 */
export class Screen implements Disposable {
  readonly #stream: ScreenStream;
  readonly #render: () => readonly string[];
  readonly #onResize = (): void => this.draw();
  readonly #onExit = (): void => void this.#stream.write(LEAVE);

  /** `render`: the page for the size that the terminal has now. */
  constructor(stream: ScreenStream, render: () => readonly string[]) {
    this.#stream = stream;
    this.#render = render;
  }

  get columns(): number {
    // Some terminals say that they have none.
    return this.#stream.columns || USUAL_COLUMNS;
  }

  get rows(): number {
    return this.#stream.rows || USUAL_ROWS;
  }

  enter(): void {
    this.#stream.write(ENTER);
    this.#stream.on('resize', this.#onResize);
    // However the process ends, as far as it can do anything then.
    process.on('exit', this.#onExit);
  }

  draw(): void {
    // A line in the last column may scroll, and one beyond the last row does.
    const lines = this.#render().slice(0, this.rows - 1);
    const text = lines.map((line) => `${line}${END_OF_LINE}\r\n`).join('');
    this.#stream.write(`${HOME}${text}${END_OF_SCREEN}`);
  }

  [Symbol.dispose](): void {
    this.#stream.off('resize', this.#onResize);
    process.off('exit', this.#onExit);
    this.#stream.write(LEAVE);
  }
}
