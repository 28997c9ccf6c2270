import { type Token, tokens } from './tokens.ts';

export type Import = ReadableImport | UnreadableImport;

export interface ReadableImport {
  /** `lazy`: loaded when the code runs, by `import()`. */
  readonly kind: 'value' | 'type' | 'lazy';
  readonly specifier: string;
  readonly line: number;
}

/** An import whose module is known only at run time. */
export interface UnreadableImport {
  readonly kind: 'unreadable';
  readonly written: string;
  readonly line: number;
}

/** Every import a source file makes: static, type-only, re-exported and dynamic, in order. */
export function readImports(source: string): readonly Import[] {
  const lines = source.split('\n');
  const all = tokens(source);
  const found: Import[] = [];
  all.forEach((token, index) => {
    if (token.kind !== 'word' || isProperty(all, index)) return;
    const read = STATEMENTS.get(token.text)?.(all.slice(index + 1, index + 1 + LOOKAHEAD));
    if (read === undefined) return;
    if (read === UNREADABLE || read.specifier.includes('\\')) {
      const written = lines[token.line - 1]?.trim() ?? '';
      found.push({ kind: 'unreadable', written, line: token.line });
    } else {
      found.push({ ...read, line: token.line });
    }
  });
  return found;
}

/** Longer than the longest list of names anyone imports from one file. */
const LOOKAHEAD = 2_000;

type Read =
  | { readonly kind: ReadableImport['kind']; readonly specifier: string }
  | typeof UNREADABLE;

const UNREADABLE = Symbol('unreadable');

const STATEMENTS: ReadonlyMap<string, (rest: readonly Token[]) => Read | undefined> = new Map([
  ['import', readImport],
  ['export', readExport],
]);

/** `x.import`, but not `...import`. */
function isProperty(all: readonly Token[], index: number): boolean {
  return all[index - 1]?.text === '.' && all[index - 2]?.text !== '.';
}

function readImport(rest: readonly Token[]): Read | undefined {
  const [first, second] = rest;
  if (first?.kind === 'string') return { kind: 'value', specifier: first.text };
  if (first?.text === '(') return readDynamic(rest.slice(1));
  if (first?.text === '.') {
    // `import.defer(…)` and `import.source(…)` load modules; `import.meta` does not.
    return second?.text === 'meta' ? undefined : readDynamic(rest.slice(3));
  }
  return readClause(rest, startsTypeClause(rest) ? 'type' : 'value');
}

function readDynamic(args: readonly Token[]): Read {
  const [specifier, after] = args;
  const isWholeArgument = after?.text === ')' || after?.text === ',';
  if (specifier?.kind !== 'string' || !isWholeArgument) return UNREADABLE;
  return { kind: 'lazy', specifier: specifier.text };
}

/** `import type X …`, but not `import type from …` nor `import type, { X } from …`. */
function startsTypeClause([first, second, third]: readonly Token[]): boolean {
  if (first?.text !== 'type' || second?.text === ',') return false;
  return second?.text !== 'from' || third?.text === 'from';
}

function readExport(rest: readonly Token[]): Read | undefined {
  const isType = rest[0]?.text === 'type';
  const clause = isType ? rest.slice(1) : rest;
  if (clause[0]?.text !== '{' && clause[0]?.text !== '*') return undefined;
  return readClause(clause, isType ? 'type' : 'value');
}

/** Names, braces, commas and stars up to `from '…'`; anything else is not an import clause. */
function readClause(clause: readonly Token[], kind: 'value' | 'type'): Read | undefined {
  for (const [index, token] of clause.entries()) {
    const next = clause[index + 1];
    if (token.text === 'from' && token.kind === 'word' && next?.kind === 'string') {
      return { kind, specifier: next.text };
    }
    if (token.text === '=' && next?.text === 'require') return UNREADABLE;
    const closesExport = token.text === '}' && next?.text !== 'from';
    const mayStand = token.kind === 'word' || token.kind === 'string' || isClauseMark(token);
    if (closesExport || !mayStand) return undefined;
  }
  return undefined;
}

function isClauseMark(token: Token): boolean {
  return token.kind === 'mark' && '{},*'.includes(token.text);
}
