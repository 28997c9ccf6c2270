import type { Incident } from './incident.ts';
import type { Got } from './question.ts';
import type { Answer, Typed } from './typed.ts';

export interface DoctorFinding {
  readonly code: string;
  readonly level: string;
  readonly what: string;
  readonly next?: string;
}

/** What was seen while an incident lasted. */
export interface Observed {
  /** What the connections of its client got. */
  readonly got: readonly Got[];
  readonly explain: Typed & Answer;
  /** The line `next` that was typed; undefined: none was to be, or none could. */
  readonly next?: Typed;
  /** After that. */
  readonly gotAfter?: readonly Got[];
  readonly doctor?: { readonly exit: number; readonly findings: readonly DoctorFinding[] };
  readonly also: readonly Typed[];
}

export interface IncidentResult {
  readonly incident: Pick<Incident, 'name' | 'gets' | 'explain' | 'doctor'>;
  /** Undefined: it was not produced. */
  readonly observed: Observed | undefined;
  /** What is wrong with the answers; empty: all is right. */
  readonly faults: readonly string[];
  /** Commands typed until the cause was named; undefined: no command named it. */
  readonly commandsToCause: number | undefined;
  readonly seconds: number;
}
