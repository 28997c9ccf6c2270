/** What a row of traffic can be: as `fairlead top` and its page for all nodes take it. */
export const GROUPINGS = ['service', 'endpoint', 'client'] as const;
export type GroupedBy = (typeof GROUPINGS)[number];
