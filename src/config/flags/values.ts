import { parseDurationMs } from '../duration.ts';
import { type FilePattern, KIND_IN_WORDS, type Kind, type KindValues } from '../field-kinds.ts';

type Parser<K extends Kind> = (text: string) => KindValues[K] | undefined;

/** Text of a flag to a value of its kind, as Go's flags read it; undefined: it is none. */
const PARSERS: { readonly [K in Kind]: Parser<K> } = {
  text: (text) => text,
  boolean: parseBoolean,
  int32: parseInt32,
  number: parseNumber,
  duration: parseDurationMs,
  durationOrNanoseconds: parseDurationMs,
  texts: (text) => (text === '' ? [] : text.split(',')),
  quantity: (text) => text,
  switches: parseSwitches,
  filePatterns: parseFilePatterns,
};

/** A flag may be given several times: lists and gates add up, of all others the last one counts. */
export function parseFlagValues(
  kind: Kind,
  texts: readonly string[],
): { value: KindValues[Kind] } | { wrong: string; expected: string } {
  const values: KindValues[Kind][] = [];
  for (const text of texts) {
    const value = PARSERS[kind](text);
    if (value === undefined) return { wrong: text, expected: KIND_IN_WORDS[kind] };
    values.push(value);
  }
  return { value: values.reduce(combine) };
}

function combine(earlier: KindValues[Kind], later: KindValues[Kind]): KindValues[Kind] {
  if (Array.isArray(earlier) && Array.isArray(later)) return [...earlier, ...later];
  if (isSwitches(earlier) && isSwitches(later)) return { ...earlier, ...later };
  return later;
}

function isSwitches(value: KindValues[Kind]): value is KindValues['switches'] {
  return typeof value === 'object' && !Array.isArray(value);
}

export function parseBoolean(text: string): boolean | undefined {
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}

export function parseInt32(text: string): number | undefined {
  if (!/^[+-]?(\d+|0[xX][\da-fA-F]+)$/.test(text)) return undefined;
  const digits = text.replace(/^[+-]/, '');
  // Go reads a leading zero as octal.
  const radix = /^0[xX]/.test(digits) ? 16 : /^0\d/.test(digits) ? 8 : 10;
  if (radix === 8 && /[89]/.test(digits)) return undefined;
  const size = Number.parseInt(digits.replace(/^0[xX]/, ''), radix);
  const value = text.startsWith('-') ? -size : size;
  return value >= -(2 ** 31) && value < 2 ** 31 ? value + 0 : undefined;
}

function parseNumber(text: string): number | undefined {
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
}

function parseSwitches(text: string): KindValues['switches'] | undefined {
  const entries = pairs(text).map(([name, value]) => [name, parseBoolean(value)] as const);
  if (entries.some(([name, value]) => name === '' || value === undefined)) return undefined;
  return Object.fromEntries(entries.map(([name, value]) => [name, value === true]));
}

function parseFilePatterns(text: string): readonly FilePattern[] | undefined {
  const patterns = pairs(text).map(([filePattern, verbosity]) => ({
    filePattern,
    verbosity: /^\d+$/.test(verbosity) ? Number(verbosity) : undefined,
  }));
  const isWhole = (pattern: (typeof patterns)[number]): pattern is FilePattern =>
    pattern.filePattern !== '' && pattern.verbosity !== undefined;
  return patterns.every(isWhole) ? patterns : undefined;
}

function pairs(text: string): [string, string][] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...value] = part.split('=');
      return [name.trim(), value.join('=').trim()];
    });
}
