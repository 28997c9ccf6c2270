import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Token, tokens } from '../layers/tokens.ts';
import { codeFiles } from '../tree/code-files.ts';
import type { Problem } from './check.ts';

/** Names that say nothing: a file called as another one, a parameter called `of`. */
export async function checkNames(root: string, below: string): Promise<readonly Problem[]> {
  const files = (await codeFiles(join(root, below))).map((file) => `${below}/${file}`);
  const parameters = await Promise.all(
    files.map(async (file) =>
      linesWithOf(await readFile(join(root, file), 'utf8')).map((line) => ({
        file,
        problem: `line ${line} has a parameter called 'of': name what it is`,
      })),
    ),
  );
  const sources = files.filter((file) => !file.endsWith('.test.ts'));
  return [...sharedNames(sources), ...parameters.flat()];
}

/** An editor's tab shows the name of a file, and not its folder. */
function sharedNames(files: readonly string[]): readonly Problem[] {
  const byName = Map.groupBy(files, (file) => basename(file));
  return [...byName.values()].flatMap(([first, ...others]) =>
    others.map((file) => ({ file, problem: `has the name of ${first}` })),
  );
}

/** The lines with a parameter called `of`: of a function or its type, or unpacked from an object. */
export function linesWithOf(source: string): readonly number[] {
  if (!/\bof\b/.test(source)) return [];
  const all = tokens(source);
  const brackets = bracketsOf(all);
  const around: number[] = [];
  const found: number[] = [];
  for (const [at, { kind, text, line }] of all.entries()) {
    const isOf = kind === 'word' && text === 'of';
    if (isOf && isBound(all, at, all[around.at(-1) ?? -1]?.text)) {
      if (around.some((start) => isParameterList(all, start, brackets))) found.push(line);
    }
    if (brackets.has(at)) around.push(at);
    else if (kind === 'mark' && CLOSING.includes(text)) around.pop();
  }
  return found;
}

const OPENING = ['(', '[', '{'];
const CLOSING = [')', ']', '}'];

/** The places of opening brackets, each with that of the one that closes it. */
function bracketsOf(all: readonly Token[]): ReadonlyMap<number, number> {
  const brackets = new Map<number, number>();
  const open: number[] = [];
  for (const [at, { kind, text }] of all.entries()) {
    if (kind !== 'mark') continue;
    if (OPENING.includes(text)) open.push(at);
    else if (CLOSING.includes(text)) brackets.set(open.pop() ?? -1, at);
  }
  return brackets;
}

/** Whether the name is bound here; that of a field is not. */
function isBound(all: readonly Token[], at: number, bracket: string | undefined): boolean {
  const [before, after] = [all[at - 1]?.text ?? '', all[at + 1]?.text ?? ''];
  if (bracket === '{' && after === ':') return false;
  const isRest = before === '.' && all[at - 2]?.text === '.';
  return (isRest || '([{,:'.includes(before)) && ':?=,)]}'.includes(after);
}

/** In parentheses before `=>`, a type or a body. */
function isParameterList(
  all: readonly Token[],
  start: number,
  brackets: ReadonlyMap<number, number>,
): boolean {
  if (all[start]?.text !== '(' || NOT_CALLED.has(all[start - 1]?.text ?? '')) return false;
  const end = brackets.get(start) ?? all.length;
  const [next, afterNext] = [all[end + 1]?.text, all[end + 2]?.text];
  return next === ':' || next === '{' || (next === '=' && afterNext === '>');
}

const NOT_CALLED: ReadonlySet<string> = new Set(['if', 'for', 'while', 'switch', 'with']);
