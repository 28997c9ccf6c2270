/** What `fairlead doctor -o json` prints, and when. */
export interface DoctorAnswer {
  readonly atMs: number;
  readonly verdict: 'healthy' | 'problems' | 'incomplete';
  readonly problems: number;
  readonly notes: number;
  readonly passed: number;
  readonly unasked: number;
  readonly mode: string;
  readonly node?: string;
  readonly results: readonly DoctorResult[];
  /** Which modes could run here; `missing` is empty for those. */
  readonly modes: readonly { readonly mode: string; readonly missing: readonly string[] }[];
}

export interface DoctorResult {
  readonly check: string;
  readonly level: 'ok' | 'note' | 'problem' | 'unasked';
  readonly code: string;
  /** The thing and its value, such as `net.ipv4.ip_forward = 0`. */
  readonly what: string;
  readonly why?: string;
  readonly next?: string;
}
