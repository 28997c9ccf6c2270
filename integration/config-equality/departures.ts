/** Files of which Fairlead makes something else on purpose: what is said, and why. */
export const DEPARTURES: Readonly<
  Record<string, { readonly finding: string; readonly why: string }>
> = {};
