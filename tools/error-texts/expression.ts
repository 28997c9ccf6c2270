import type { Token } from '../layers/tokens.ts';

/** A text of a program with names for what is filled in, such as `cannot read <path>`. */
export interface ExpressionText {
  readonly text: string;
  readonly line: number;
}

/** The index of the bracket that closes the one at `open`. */
export function closing(all: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < all.length; at++) {
    const token = all[at];
    if (isOpening(token)) depth++;
    else if (isClosing(token) && --depth === 0) return at;
  }
  return all.length;
}

/** The parts of a list between brackets, split at its own commas. */
export function splitList(inner: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of inner) {
    if (isOpening(token)) depth++;
    else if (isClosing(token)) depth--;
    if (depth === 0 && isMark(token, ',')) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts.filter((part) => part.length > 0);
}

/** Every text that the expression can be; pieces joined by `+` are one text. */
export function textsOf(expression: readonly Token[]): ExpressionText[] {
  const texts: ExpressionText[] = [];
  let isJoined = false;
  for (let at = 0; at < expression.length; at++) {
    const token = expression[at];
    if (token === undefined) break;
    const read = readText(expression, at);
    if (read === undefined) {
      isJoined = isMark(token, '+') && texts.length > 0;
      continue;
    }
    const last = texts.at(-1);
    if (isJoined && last !== undefined) {
      texts[texts.length - 1] = { ...last, text: last.text + read.text };
    } else texts.push({ text: read.text, line: token.line });
    at = read.end;
    isJoined = false;
  }
  return texts;
}

function readText(
  all: readonly Token[],
  at: number,
): { readonly text: string; readonly end: number } | undefined {
  const token = all[at];
  if (token?.kind === 'string') return { text: unescaped(token.text), end: at };
  if (token?.kind !== 'template') return undefined;
  let text = token.piece ?? '';
  let end = at;
  while (all[end]?.isLast === false) {
    const next = nextPiece(all, end);
    if (next === undefined) break;
    text += `<${nameOf(all.slice(end + 1, next))}>${all[next]?.piece ?? ''}`;
    end = next;
  }
  return { text: unescaped(text), end };
}

/** Templates within a substitution have pieces of their own. */
function nextPiece(all: readonly Token[], from: number): number | undefined {
  let open = 0;
  for (let at = from + 1; at < all.length; at++) {
    const token = all[at];
    if (token?.kind === 'template' && token.isLast === false) open++;
    if (token?.kind !== 'template-text') continue;
    if (open === 0) return at;
    if (token.isLast) open--;
  }
  return undefined;
}

const NOT_A_NAME = new Set(['await', 'join', 'map', 'new', 'this', 'toFixed', 'toLocaleString']);

/** The last name of a path such as `options.path`; of a call, that of the function. */
function nameOf(substitution: readonly Token[]): string {
  const end = substitution.findIndex(
    (token, at) => at > 0 && token.kind === 'mark' && token.text !== '.',
  );
  const path = end === -1 ? substitution : substitution.slice(0, end);
  const names = path.filter(({ kind, text }) => kind === 'word' && !NOT_A_NAME.has(text));
  return names.at(-1)?.text.replace('#', '') ?? '…';
}

function unescaped(text: string): string {
  return text.replaceAll('\\n', ' ').replaceAll(/\\(.)/g, '$1');
}

export function isMark(token: Token | undefined, text: string): boolean {
  return token?.kind === 'mark' && token.text === text;
}

function isOpening(token: Token | undefined): boolean {
  return token?.kind === 'mark' && '([{'.includes(token.text);
}

function isClosing(token: Token | undefined): boolean {
  return token?.kind === 'mark' && ')]}'.includes(token.text);
}
