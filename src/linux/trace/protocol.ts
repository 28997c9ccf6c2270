/** Numbers of trace events (uapi/linux/netfilter/nf_tables.h, enum nft_trace_attributes). */
export const TRACE = {
  table: 1,
  chain: 2,
  handle: 3,
  kind: 4,
  verdict: 5,
  packetId: 6,
  networkHeader: 8,
  transportHeader: 9,
  inInterface: 10,
  outInterface: 12,
  mark: 14,
  family: 15,
  policy: 16,
} as const;

export const TRACE_KIND: Readonly<Record<number, 'policy' | 'return' | 'rule'>> = {
  1: 'policy',
  2: 'return',
  3: 'rule',
};

export const VERDICT_NAME: Readonly<Record<number, VerdictName>> = {
  0: 'drop',
  1: 'accept',
  2: 'stolen',
  3: 'queue',
  [-1]: 'continue',
  [-2]: 'break',
  [-3]: 'jump',
  [-4]: 'goto',
  [-5]: 'return',
};

export type VerdictName =
  | 'drop'
  | 'accept'
  | 'stolen'
  | 'queue'
  | 'continue'
  | 'break'
  | 'jump'
  | 'goto'
  | 'return';
