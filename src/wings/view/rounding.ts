/** A rate to hundredths: more digits say nothing, and take room in every tick. */
export function rounded(rate: number): number {
  return Math.round(rate * 100) / 100;
}

/** Undefined: there are some, and none is known. */
export function sumOfKnown(figures: readonly (number | undefined)[]): number | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  if (known.length === 0 && figures.length > 0) return undefined;
  return known.reduce((sum, figure) => sum + figure, 0);
}
