export type Unit = 'short' | 's' | 'bytes' | 'percentunit' | 'ops' | 'cps';

/** One panel of the dashboard: what it asks, and how to read the answer. */
export interface Panel {
  readonly title: string;
  /** One sentence: what a bad value means. */
  readonly about: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** `number`: the value now, a quarter of the width. `lines`: over time, half of it. */
  readonly form: 'number' | 'lines';
  /** From this value on the number is red. */
  readonly badFrom?: number;
}

export interface Query {
  readonly expression: string;
  /** Grafana's template for the name of a line. */
  readonly legend: string;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}
