/** Why a request failed. */
export interface Problem {
  /** For programs. */
  readonly code: string;
  readonly message: string;
  /** What to do; absent: nothing. */
  readonly next?: string;
}

export type SourceClassName = 'pod' | 'host' | 'outside';
export type ProtocolName = 'TCP' | 'UDP' | 'SCTP';
export type FamilyName = 'IPv4' | 'IPv6';
