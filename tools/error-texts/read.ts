import { type Token, tokens } from '../layers/tokens.ts';
import { closing, isMark, splitList, textsOf } from './expression.ts';

/** One error as its reader meets it. */
export interface ErrorText {
  /** The stable code; the name of the class where the code depends on the cause. */
  readonly code: string;
  readonly text: string;
  /** What to do; the alternatives where it depends on the cause. */
  readonly next: readonly string[];
  readonly file: string;
  readonly line: number;
}

interface Source {
  readonly file: string;
  readonly all: readonly Token[];
}

/** A function that makes errors of a text it is given. */
interface Factory {
  readonly name: string;
  /** Where it can be called; undefined: everywhere. */
  readonly file: string | undefined;
  readonly parameter: string;
  readonly position: number;
  readonly made: Omit<ErrorText, 'file' | 'line'>;
}

const ERROR_CLASS = /^(?:\w*Error|\w+Rejection|MalformedMessage)$/;
/** Of JavaScript: for mistakes of the program, without a code. */
const BUILT_IN = new Set(['Error', 'TypeError', 'RangeError', 'SyntaxError', 'AggregateError']);
const CODE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
/** A factory may call another one; the longest chain in use is two. */
const MOST_ROUNDS = 4;

export function readErrorTexts(sources: ReadonlyMap<string, string>): ErrorText[] {
  const parsed = [...sources].map(([file, source]): Source => ({ file, all: tokens(source) }));
  const nextByCode = new Map(parsed.flatMap(({ all }) => codeTable(all)));
  const found: ErrorText[] = [];
  let factories: Factory[] = [];
  const take = (source: Source, made: ErrorText): Factory | undefined => {
    const factory = factoryOf(source, made);
    if (factory === undefined) found.push(made);
    return factory;
  };
  for (const source of parsed) {
    for (const made of constructed(source)) {
      const factory = take(source, made);
      if (factory) factories.push(factory);
    }
  }
  for (let round = 0; round < MOST_ROUNDS && factories.length > 0; round++) {
    const calls = parsed.flatMap((source) =>
      factories.flatMap((factory) => called(source, factory).map((made) => take(source, made))),
    );
    factories = calls.filter((each) => each !== undefined);
  }
  return unique(found.map((each) => withNextOfCode(each, nextByCode)));
}

function constructed(source: Source): ErrorText[] {
  const { file, all } = source;
  return all.flatMap((token, at): ErrorText[] => {
    const name = all[at + 1]?.text ?? '';
    if (token.kind !== 'word' || token.text !== 'new' || !isMark(all[at + 2], '(')) return [];
    if (!ERROR_CLASS.test(name) || BUILT_IN.has(name)) return [];
    const args = splitList(all.slice(at + 3, closing(all, at + 2)));
    const objects = args.filter(([first]) => isMark(first, '{'));
    const others = args.filter(([first]) => !isMark(first, '{'));
    const options = objects.flatMap((object) => splitList(object.slice(1, -1)));
    const codes = [...others, optionOf(options, 'code') ?? []].flat();
    const code = codes.find(({ kind, text }) => kind === 'string' && CODE.test(text))?.text ?? name;
    const next = textsOfValue(source, at, optionOf(options, 'next') ?? []).filter(isSentence);
    const message = others.find(
      ([only]) => only?.text !== code && !/[cC]ode/.test(only?.text ?? ''),
    );
    return textsOfValue(source, at, message ?? []).map((text) => ({
      ...{ code, text, next, file, line: token.line },
    }));
  });
}

/** Of `name: value`, or of `name` alone. */
function optionOf(options: readonly Token[][], name: string): Token[] | undefined {
  const option = options.find(([first]) => first?.kind === 'word' && first.text === name);
  if (option === undefined) return undefined;
  return isMark(option[1], ':') ? option.slice(2) : option.slice(0, 1);
}

/** Follows a constant, or a function that returns texts, to where the file declares it. */
function textsOfValue({ all }: Source, at: number, value: readonly Token[]): string[] {
  const own = textsOf(value).map(({ text }) => text);
  const [first] = value;
  if (first?.kind !== 'word') return own;
  if (value.length > 1 && !isMark(value[1], '(')) return own;
  const constant = all.findLastIndex(
    ({ text }, index) =>
      index < at && text === first.text && /^(?:const|let)$/.test(all[index - 1]?.text ?? ''),
  );
  if (value.length === 1 && constant >= 0) {
    const end = all.findIndex((token, index) => index > constant && isMark(token, ';'));
    const texts = textsOf(all.slice(constant + 1, end)).map(({ text }) => text);
    if (texts.length > 0) return texts;
  }
  const declared = all.findIndex(
    ({ text }, index) => text === first.text && all[index - 1]?.text === 'function',
  );
  if (value.length > 1 && declared >= 0) return returnedTexts(all, declared);
  return value.length === 1 ? [`<${first.text}>`] : own;
}

function returnedTexts(all: readonly Token[], declared: number): string[] {
  const open = all.findIndex((token, index) => index > declared && isMark(token, '{'));
  const body = all.slice(open, closing(all, open));
  return body.flatMap(({ kind, text }, at) => {
    if (kind !== 'word' || text !== 'return') return [];
    const end = body.findIndex((token, index) => index > at && isMark(token, ';'));
    return textsOf(body.slice(at, end)).map((each) => each.text);
  });
}

/** Whether a parameter of the function around it is a part of its text. */
function factoryOf({ file, all }: Source, made: ErrorText): Factory | undefined {
  const at = all.findIndex(({ line }) => line === made.line);
  const declared = all.findLastIndex((_, index) => index <= at && isDeclared(all, index));
  if (declared < 0) return undefined;
  const name = all[declared]?.text ?? '';
  const open = declared + 1;
  const parameters = splitList(all.slice(open + 1, closing(all, open)));
  const position = parameters.findIndex(([first]) => made.text.includes(`<${first?.text}>`));
  const parameter = parameters[position]?.[0]?.text;
  if (parameter === undefined || !TEXT_PARAMETER.test(parameter)) return undefined;
  const isExported = all[declared - 2]?.text === 'export';
  return { name, file: isExported ? undefined : file, parameter, position, made };
}

/** Parameters that carry a part of a sentence. Others, such as a path, are values in it. */
const TEXT_PARAMETER = /^(?:message|what|why|doing)$/;

function isDeclared(all: readonly Token[], at: number): boolean {
  if (all[at]?.kind !== 'word' || !isMark(all[at + 1], '(')) return false;
  if (all[at - 1]?.text === 'function') return true;
  return all[at]?.text.startsWith('#') === true && all[at - 1]?.text !== '.';
}

function called(source: Source, { name, file, parameter, position, made }: Factory): ErrorText[] {
  const { all } = source;
  if (file !== undefined && file !== source.file) return [];
  return all.flatMap((token, at): ErrorText[] => {
    if (token.kind !== 'word' || token.text !== name || !isMark(all[at + 1], '(')) return [];
    if (isDeclared(all, at)) return [];
    const args = splitList(all.slice(at + 2, closing(all, at + 1)));
    return textsOfValue(source, at, args[position] ?? []).map((text) => ({
      ...{ code: made.code, next: made.next, file: source.file, line: token.line },
      text: made.text.replace(`<${parameter}>`, text),
    }));
  });
}

/** `{ CODE: 'what to do', … }`. */
function codeTable(all: readonly Token[]): [string, string][] {
  return all.flatMap(({ kind, text }, at): [string, string][] => {
    if (kind !== 'word' || !CODE.test(text) || !isMark(all[at + 1], ':')) return [];
    const end = all.findIndex(
      (token, index) => index > at && (isMark(token, ',') || isMark(token, '}')),
    );
    const [next] = textsOf(all.slice(at + 2, end));
    return next === undefined || !next.text.includes(' ') ? [] : [[text, next.text]];
  });
}

function withNextOfCode(each: ErrorText, nextByCode: ReadonlyMap<string, string>): ErrorText {
  const next = nextByCode.get(each.code);
  return each.next.length > 0 || next === undefined ? each : { ...each, next: [next] };
}

/** Codes and separators that a value is compared with or joined by are no sentences. */
function isSentence(text: string): boolean {
  return /\S \S|^<\w+>$/.test(text);
}

function unique(all: readonly ErrorText[]): ErrorText[] {
  const byText = new Map(all.map((each) => [`${each.code} ${each.text}`, each]));
  return [...byText]
    .filter(([, { text }]) => isSentence(text))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, each]) => each);
}
