import { colours } from '../../commands/terminal/colour.ts';
import { printData, printPage } from '../../commands/terminal/print.ts';
import { Screen, type ScreenStream } from '../../commands/terminal/screen.ts';
import { visibleJson } from '../../commands/terminal/visible.ts';
import type { Tick } from './figures.ts';
import type { Output } from './follow.ts';
import { tickLines } from './view.ts';

const USUAL_WIDTH = 80;
/** Lines of a page that are not rows: totals, sources, an empty one, the head, how many more. */
const LINES_AROUND = 7;
const LEAST_ROWS = 1;

/** One object on each line. */
export function jsonLines(rows: number): Output {
  return {
    rows,
    show: (tick) => printData(visibleJson(JSON.stringify(tick))),
    [Symbol.dispose]: () => undefined,
  };
}

/** A page after the other, for pipes, files and `--once`. */
export function plainPages(rows: number): Output {
  let isFirst = true;
  return {
    rows,
    show: (tick) => {
      const of = {
        width: process.stdout.columns || USUAL_WIDTH,
        colours: colours(process.stdout, process.env),
      };
      printPage(`${isFirst ? '' : '\n'}${tickLines(tick, of).join('\n')}`);
      isFirst = false;
    },
    [Symbol.dispose]: () => undefined,
  };
}

/** Pages over each other on a terminal. */
export function redrawnPages(stream: ScreenStream, most?: number): Output {
  let last: Tick | undefined;
  const screen = new Screen(stream, () => {
    const of = { width: screen.columns, colours: colours({ isTTY: true }, process.env) };
    return last ? tickLines(last, of) : ['measuring the first interval'];
  });
  screen.enter();
  screen.draw();
  return {
    get rows() {
      const room = Math.max(LEAST_ROWS, screen.rows - LINES_AROUND);
      return Math.min(most ?? room, room);
    },
    show: (tick) => {
      last = tick;
      screen.draw();
    },
    [Symbol.dispose]: () => screen[Symbol.dispose](),
  };
}
