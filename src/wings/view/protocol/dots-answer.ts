/**
 * `q` quiet, `u` used (has open connections, or had new ones since the page was opened), `b` busy
 * (new connections in this tick), `w` its row waits for the kernel or was rejected by it, `l` dropped:
 * no endpoint on this node and policy Local, `n` rejected: no endpoint at all.
 */
export type DotState = 'q' | 'u' | 'b' | 'w' | 'l' | 'n';

/** Every Service, in the order of the dots' indices: namespaces and their Services, both sorted. */
export interface Dots {
  /** Rises when a Service is added or removed: indices of another version mean other Services. */
  readonly version: number;
  readonly count: number;
  readonly namespaces: readonly DotNamespace[];
}

export interface DotNamespace {
  readonly name: string;
  readonly services: readonly string[];
  /** One `DotState` for each Service. */
  readonly states: string;
}

export interface DotChanges {
  /** Another one than that of `Dots`: fetch them again. Absent: they are not known yet. */
  readonly version?: number;
  /** At most 400; what has no room comes with the next tick. */
  readonly changed: readonly (readonly [index: number, state: DotState])[];
}

export interface SearchAnswer {
  readonly query: string;
  /** The best first, at most 50. */
  readonly found: readonly FoundService[];
  /** How many more there are. */
  readonly more: number;
}

export interface FoundService {
  /** `namespace/name`. */
  readonly service: string;
  readonly index: number;
  readonly state: DotState;
  /** What the query was found in, where it is not the name: an address or a node port. */
  readonly by?: string;
}
