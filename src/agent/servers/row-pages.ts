import { type Candidate, candidatesOf } from '../../forwarding/candidates.ts';
import type { Forwarding, ServicePortId } from '../../forwarding/model.ts';
import type { ForwardingTable } from '../../forwarding/table.ts';
import type { RowState } from '../row-state.ts';
import { decodedPart } from './path-part.ts';

/** A desired row, with its candidate endpoints and its state in the kernel on request. */
export interface PagedRow {
  readonly forwarding: Forwarding;
  readonly candidates?: readonly Candidate[];
  /** Absent in the answer of an older version. */
  readonly kernel?: RowState;
}

export interface RowPage {
  readonly rows: readonly PagedRow[];
  /** The last Service of this page; undefined: no page follows. */
  readonly lastService?: string;
}

export type RowRequest =
  | { readonly afterService?: string; readonly withCandidates: boolean }
  | { readonly ofService: string; readonly withCandidates: boolean };

/**
 * Frontends and endpoints per page: about 200 kB of JSON. A page is rendered in one event loop
 * iteration, so it must not take much longer than a change.
 */
const PAGE_SIZE = 2_000;

/** Pages of desired rows, so that reading fifty thousand delays no change. */
export class RowPages {
  readonly #table: () => ForwardingTable;
  readonly #stateOf: ((id: ServicePortId) => RowState) | undefined;
  /** Sorted once for all pages of a request: sorting for each page would cost more. */
  #names: readonly string[] | undefined;

  constructor(table: () => ForwardingTable, stateOf?: (id: ServicePortId) => RowState) {
    this.#table = table;
    this.#stateOf = stateOf;
  }

  page(request: RowRequest): RowPage {
    const { withCandidates } = request;
    if ('ofService' in request) {
      return { rows: this.#rowsOf(request.ofService, withCandidates) };
    }
    const { afterService } = request;
    if (afterService === undefined) this.#names = undefined;
    this.#names ??= this.#table().serviceNames();
    const names = this.#names;
    const rows: PagedRow[] = [];
    let size = 0;
    let index = afterService === undefined ? 0 : firstAfter(names, afterService);
    for (; index < names.length && size < PAGE_SIZE; index += 1) {
      for (const row of this.#rowsOf(names[index] ?? '', withCandidates)) {
        rows.push(row);
        size += sizeOf(row);
      }
      // A Service without rows counts as read.
      size += 1;
    }
    const lastService = index < names.length ? names[index - 1] : undefined;
    if (lastService === undefined) this.#names = undefined;
    return lastService === undefined ? { rows } : { rows, lastService };
  }

  #rowsOf(name: string, withCandidates: boolean): PagedRow[] {
    const table = this.#table();
    const service = table.service(name);
    return table.ofService(name).map((forwarding) => {
      if (!withCandidates || service === undefined) return { forwarding };
      const { id } = forwarding;
      const slices = table.slicesOf(name);
      const candidates = candidatesOf({ service, slices, id, view: table.view });
      const kernel = this.#stateOf?.(id);
      return { forwarding, candidates, ...(kernel === undefined ? {} : { kernel }) };
    });
  }
}

function sizeOf({ forwarding, candidates = [] }: PagedRow): number {
  const { frontends, clusterEndpoints, localEndpoints } = forwarding;
  return frontends.length + clusterEndpoints.length + localEndpoints.length + candidates.length;
}

/** Index of the first name after this one. */
export function firstAfter(names: readonly string[], name: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((names[middle] ?? '') <= name) low = middle + 1;
    else high = middle;
  }
  return low;
}

const ROWS = '/rows';
const WITH_CANDIDATES = '/rows-with-candidates';

/** The path of a request: names of Services hold no characters that it would have to escape twice. */
export function rowPath(request: RowRequest): string {
  const base = request.withCandidates ? WITH_CANDIDATES : ROWS;
  if ('ofService' in request) return `${base}/of/${encodeURIComponent(request.ofService)}`;
  const { afterService } = request;
  return afterService === undefined ? base : `${base}/after/${encodeURIComponent(afterService)}`;
}

/** Undefined: another path. */
export function parseRowPath(path: string): RowRequest | undefined {
  const found = /^(\/rows|\/rows-with-candidates)(?:\/(of|after)\/([^/]+))?$/.exec(path);
  if (found === null) return undefined;
  const [, base, which, encoded] = found;
  const withCandidates = base === WITH_CANDIDATES;
  if (which === undefined || encoded === undefined) return { withCandidates };
  const name = decodedPart(encoded);
  if (name === undefined) return undefined;
  if (which === 'of') return { ofService: name, withCandidates };
  return { afterService: name, withCandidates };
}
