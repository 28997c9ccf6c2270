import type { JsonRecord } from '../../../cluster/json.ts';

/** A call of kubectl that changes the cluster. */
export interface Change {
  readonly args: readonly string[];
  /** Objects for its standard input. */
  readonly objects?: readonly JsonRecord[];
}

/** What a check found. */
export type Found =
  | { readonly holds: true; readonly what: string }
  /** What is not as it should be, one sentence for each. */
  | { readonly holds: false; readonly why: readonly string[] };

export type Check = (signal: AbortSignal) => Promise<Found>;

/** A step of a procedure: changes, and the check without which the next one must not begin. */
export interface Step {
  /** `start Fairlead beside kube-proxy`. */
  readonly title: string;
  readonly changes: readonly Change[];
  /** Whether there is nothing left to do; undefined: this cannot be seen, and the changes are harmless. */
  readonly isDone: Check | undefined;
  /** Polled after the changes, until it holds. */
  readonly check: Check;
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

export function allHold(...checks: readonly Check[]): Check {
  return async (signal) => {
    const found: Found[] = [];
    for (const check of checks) found.push(await check(signal));
    const why = found.flatMap((each) => (each.holds ? [] : each.why));
    if (why.length > 0) return { holds: false, why };
    return {
      holds: true,
      what: found.flatMap((each) => (each.holds ? [each.what] : [])).join(', '),
    };
  };
}
