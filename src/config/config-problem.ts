/** Position of a value. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A fault or warning about the configuration. */
export interface Problem {
  /** The path of the field in the file, such as `conntrack.min`, or the flag, such as `--config`. */
  readonly subject: string;
  readonly message: string;
  readonly place?: Place;
}

/** `file:line:column: subject: message`, which editors and terminals turn into links. */
export function formatProblem({ subject, message, place }: Problem): string {
  const where = place === undefined ? '' : `${place.file}:${place.line}:${place.column}: `;
  return `${where}${subject === '' ? '' : `${subject}: `}${message}`;
}

/** In file order, then problems without a position. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  const line = ({ place }: Problem): number => place?.line ?? Number.MAX_SAFE_INTEGER;
  const column = ({ place }: Problem): number => place?.column ?? 0;
  return problems.toSorted((a, b) => line(a) - line(b) || column(a) - column(b));
}
