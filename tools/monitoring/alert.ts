/** One alert of deploy/monitoring, with a section of the same name in docs/runbooks.md. */
export interface Alert {
  readonly name: string;
  readonly expression: string;
  /** How long the expression must hold. */
  readonly for?: string;
  /** `critical`: Services of the node are or will be wrong. `warning`: look at it today. */
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  readonly description: string;
}
