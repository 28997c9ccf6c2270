import type { Backing } from '../../forwarding/backing.ts';
import type { Candidate } from '../../forwarding/candidates.ts';
import type { Forwarding } from '../../forwarding/model.ts';
import type { RowState } from '../row-state.ts';

/** A desired row, with its candidate endpoints and its state in the kernel on request. */
export interface PagedRow {
  readonly forwarding: Forwarding;
  readonly candidates?: readonly Candidate[];
  /** Absent in the answer of an older version. */
  readonly kernel?: RowState;
  /** With the candidates; absent in the answer of an older version. */
  readonly backing?: Backing;
  /** More of the row before: its lists begin where those ended. */
  readonly isContinued?: true;
}

/** Frontends, endpoints and candidates of a row. */
export function sizeOf({ forwarding, candidates = [] }: PagedRow): number {
  const { frontends, clusterEndpoints, localEndpoints } = forwarding;
  return frontends.length + clusterEndpoints.length + localEndpoints.length + candidates.length;
}

/**
 * A part of a row: about `most` of its frontends, endpoints and candidates, the first `from` of
 * which are in the parts before.
 */
export function partOf(row: PagedRow, { from, most }: { from: number; most: number }): PagedRow {
  if (from === 0 && sizeOf(row) <= most) return row;
  let begin = from;
  let end = from + most;
  const some = <Item>(list: readonly Item[]): readonly Item[] => {
    const part = list.slice(Math.max(0, begin), Math.max(0, end));
    begin -= list.length;
    end -= list.length;
    return part;
  };
  const { forwarding, candidates } = row;
  const lists = {
    frontends: some(forwarding.frontends),
    clusterEndpoints: some(forwarding.clusterEndpoints),
    localEndpoints: some(forwarding.localEndpoints),
  };
  return {
    ...row,
    forwarding: { ...forwarding, ...lists },
    ...(candidates === undefined ? {} : { candidates: some(candidates) }),
    ...(from === 0 ? {} : { isContinued: true }),
  };
}

/** Puts rows together again whose parts came in several pages. */
export class JoinedRows {
  readonly #rows: PagedRow[] = [];
  /** Parts of the last row: joined once, or each part would copy all of those before it. */
  #parts: PagedRow[] = [];

  add(part: PagedRow): void {
    if (part.isContinued !== true) this.#finish();
    this.#parts.push(part);
  }

  /** Forgets the rows of a Service whose rest cannot be read. */
  drop(service: string): void {
    this.#finish();
    const first = this.#rows.findIndex(
      ({ forwarding: { id } }) => `${id.namespace}/${id.service}` === service,
    );
    if (first >= 0) this.#rows.splice(first);
  }

  all(): PagedRow[] {
    this.#finish();
    return this.#rows;
  }

  #finish(): void {
    const [first, ...rest] = this.#parts;
    this.#parts = [];
    if (first === undefined) return;
    this.#rows.push(rest.length === 0 ? first : joined(first, rest));
  }
}

function joined(first: PagedRow, rest: readonly PagedRow[]): PagedRow {
  const all = [first, ...rest];
  const rows = all.map(({ forwarding }) => forwarding);
  const lists = {
    frontends: rows.flatMap(({ frontends }) => frontends),
    clusterEndpoints: rows.flatMap(({ clusterEndpoints }) => clusterEndpoints),
    localEndpoints: rows.flatMap(({ localEndpoints }) => localEndpoints),
  };
  const { candidates } = first;
  return {
    ...first,
    forwarding: { ...first.forwarding, ...lists },
    ...(candidates === undefined
      ? {}
      : { candidates: all.flatMap((part) => part.candidates ?? []) }),
  };
}
