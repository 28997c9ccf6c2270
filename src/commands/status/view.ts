import type { StatusPage } from '../../agent/status-page.ts';
import { clientsText, unservedText } from '../services/rows.ts';
import { wrapped } from '../terminal/fit.ts';
import { details } from './details.ts';
import { summary } from './summary.ts';
import { type Trouble, troublesOf } from './trouble.ts';
import { colour } from './words.ts';

export interface StatusForm {
  readonly isVerbose?: boolean;
  /** Columns of the terminal. */
  readonly width?: number;
}

const WIDTH = 80;
const INDENT = '  ';

/** Trouble first; of a healthy node three lines, and one for whatever it does not do by intention. */
export function statusView(page: StatusPage, form: StatusForm = {}): string {
  const { isVerbose = false, width = WIDTH } = form;
  const sections = [
    troublesOf(page)
      .map((trouble) => troubleText(trouble, width))
      .join('\n'),
    [...summary(page, width), ...limits(page)].join('\n'),
    ...(isVerbose ? details(page, width) : []),
  ];
  return sections.filter((text) => text !== '').join('\n\n');
}

function troubleText({ what, next }: Trouble, width: number): string {
  const indented = (text: string): string[] => wrapped(text, width - INDENT.length);
  const [first = '', ...rest] = wrapped(`! ${what}`, width);
  const lines = [first, ...indented(rest.join(' ')).filter((line) => line !== '')];
  const told = lines.map((line, index) => colour('yellow', index === 0 ? line : INDENT + line));
  return [...told, ...indented(`next: ${next}`).map((line) => INDENT + line)].join('\n');
}

/** What a machine that is no node, or was told so, does not do; no line where it does everything. */
function limits({ node, clientInterfaces }: StatusPage): string[] {
  return [clientsText(clientInterfaces), unservedText(node)].filter((text) => text !== '');
}
