export const DEFAULT_LAB = 'lab';

/** Makes commands that a person can copy, for the lab of this name. */
export function commandsFor(lab: string): (verb: string, rest?: string) => string {
  const name = lab === DEFAULT_LAB ? '' : ` --name ${lab}`;
  return (verb, rest = '') => `npm run lab -- ${verb}${name} ${rest}`.trimEnd();
}
