/** The kinds of values a field can hold, and their types inside Fairlead. */
export interface KindValues {
  readonly text: string;
  readonly boolean: boolean;
  readonly int32: number;
  readonly number: number;
  /** Milliseconds. In the file it is text, such as `30s`. */
  readonly duration: number;
  /** Milliseconds. In the file it is text, or a number of nanoseconds. */
  readonly durationOrNanoseconds: number;
  readonly texts: readonly string[];
  /** An amount of memory such as `64Ki`, kept as it was written. */
  readonly quantity: string;
  readonly switches: Readonly<Record<string, boolean>>;
  readonly filePatterns: readonly FilePattern[];
}

export interface FilePattern {
  readonly filePattern: string;
  readonly verbosity: number;
}

export type Kind = keyof KindValues;

/** The expected form, for messages. */
export const KIND_IN_WORDS: Readonly<Record<Kind, string>> = {
  text: 'a string',
  boolean: 'true or false',
  int32: 'a 32-bit integer',
  number: 'a number',
  duration: 'a duration such as 30s or 1h30m',
  durationOrNanoseconds: 'a duration such as 30s or 1h30m',
  texts: 'a list of strings',
  quantity: 'a quantity such as 64Ki',
  switches: 'names with true or false, such as GateA=true',
  filePatterns: 'file patterns with a number, such as file=2',
};
