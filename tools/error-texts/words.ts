import { tokens } from '../layers/tokens.ts';
import { textsOf } from './expression.ts';

export interface UnclearText {
  readonly line: number;
  readonly text: string;
  readonly word: string;
  /** What to write instead. */
  readonly instead: string;
}

/** Words that a user has to decode, with the plain ones. */
const WORDS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\blook(?:s|ed|ing)? (?:at|after|whether|who)\b/i, 'inspect, read, check or scan'],
  [/\bhas not been looked\b|\bhave not been looked\b/i, 'has not been inspected'],
  [/\b(?:somebody|nobody|everybody else|whoever|anybody)\b/i, 'name the process, user or host'],
  [/\b(?:take|takes|taken|took) back\b/i, 'roll back, undo'],
  [/\b(?:take|takes|taken|took|taking) off\b/i, 'detach, delete, clear'],
  [/\bmend(?:s|ed|ing)?\b/i, 'repair, restore'],
  [/\bpatien(?:ce|t|tly)\b|\bfor so long\b/i, 'timeout, deadline'],
  [/\bstrangers?\b/i, 'another process'],
  [/\btried again\b|\btry again\b/i, 'retry'],
  [/\bif it lasts\b/i, 'if it persists'],
  [/\b(?:is|are|was|were) told\b/i, 'is reported, received or notified'],
  [/\bserves? alone\b/i, 'fall back to'],
  [/\bby itself\b|\bof its own accord\b/i, 'unexpectedly'],
  [/\bis no (?:valid|usable|JSON|YAML|kubeconfig|list|event|address)\b/i, 'is not a'],
];

/** Texts of a source file, errors or not, that use one of the words. */
export function unclearTexts(source: string): UnclearText[] {
  const texts = textsOf(tokens(source)).filter(({ text }) => text.includes(' '));
  return texts.flatMap(({ text, line }) =>
    WORDS.flatMap(([pattern, instead]): UnclearText[] => {
      const word = pattern.exec(text)?.[0];
      return word === undefined ? [] : [{ line, text, word, instead }];
    }),
  );
}
