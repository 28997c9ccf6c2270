import type { JsonRecord } from '../../../cluster/json.ts';
import type { BasicFinding } from '../../../doctor/basic-finding.ts';

/** A call of kubectl that changes the cluster. */
export interface Change {
  readonly args: readonly string[];
  /** Objects for its standard input. */
  readonly objects?: readonly JsonRecord[];
}

/** Holds if it finds no problem. */
export type StepCheck = (signal: AbortSignal) => Promise<readonly BasicFinding[]>;

/** A step of a procedure: changes, and the check without which the next one must not begin. */
export interface Step {
  /** `start Fairlead beside kube-proxy`. */
  readonly title: string;
  readonly changes: readonly Change[];
  /** Whether there is nothing left to do; undefined: this cannot be seen, and the changes are harmless. */
  readonly isDone: StepCheck | undefined;
  /** Polled after the changes, until it holds. */
  readonly check: StepCheck;
  /** How long it may take until the check holds. */
  readonly timeoutMs: number;
  /** What to do where it does not. */
  readonly next: string;
}

/** How a step ended; `planned`: only told. */
export type StepState = 'planned' | 'already' | 'done' | 'failed';

export interface StepResult {
  readonly step: Step;
  readonly state: StepState;
  readonly what: string;
  /** Of a failed one. */
  readonly why: readonly string[];
  /** What was not so before its changes, which is why they were made. */
  readonly because: readonly string[];
  /** `kubectl`: a change was not accepted; `check`: what it led to is not as expected. */
  readonly failedAt?: 'kubectl' | 'check';
}

export function allHold(...checks: readonly StepCheck[]): StepCheck {
  return async (signal) => {
    const found: BasicFinding[] = [];
    for (const check of checks) found.push(...(await check(signal)));
    return found;
  };
}
