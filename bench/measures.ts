/** What can be measured; all of it by default. */
export const MEASURES = ['cold', 'change', 'rolling', 'bulk', 'data', 'limit'] as const;
export type Measure = (typeof MEASURES)[number];
