/** What can be measured; all of it when nothing is asked for. */
export const MEASURES = ['cold', 'change', 'rolling', 'bulk', 'data', 'limit'] as const;
export type Measure = (typeof MEASURES)[number];
