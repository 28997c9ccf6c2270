import { styleText } from 'node:util';

/** Each gives its text unchanged where colours are not wanted. */
export interface Colours {
  bold(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
  dim(text: string): string;
}

/** Colours for a terminal, unless NO_COLOR is set to anything (https://no-color.org). */
export function colours(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Colours {
  const isWanted = stream.isTTY === true && (environment['NO_COLOR'] ?? '') === '';
  const style = (name: keyof Colours) => (text: string) =>
    isWanted ? styleText(name, text, { validateStream: false }) : text;
  return {
    bold: style('bold'),
    red: style('red'),
    yellow: style('yellow'),
    green: style('green'),
    dim: style('dim'),
  };
}
