import { LabError } from './errors.ts';

/** A fault as text: what a program says exactly once, and what stands there instead. */
export interface PlantedText {
  readonly name: string;
  readonly replace: string;
  readonly by: string;
  /** The file with the text, for the error if the program has changed. */
  readonly writtenIn: string;
}

/** The program with the fault in it. Throws if it cannot be planted: no test could catch it. */
export function plantText(program: string, { name, replace, by, writtenIn }: PlantedText): string {
  const [before, after, ...more] = program.split(replace);
  if (before !== undefined && after !== undefined && more.length === 0) return before + by + after;
  const count = program.split(replace).length - 1;
  throw new LabError(
    'LAB_USAGE',
    `${name}: the program has ${count} times, not once, the text to replace: ${replace}`,
    {
      next: `update the text in ${writtenIn} to what src contains now`,
    },
  );
}
