import { backingOf } from '../../forwarding/backing.ts';
import { candidatesOf } from '../../forwarding/candidates.ts';
import type { ServicePortId } from '../../forwarding/model.ts';
import type { ForwardingTable } from '../../forwarding/table.ts';
import type { RowState } from '../row-state.ts';
import { decodedPart } from './path-part.ts';
import { type PagedRow, partOf, sizeOf } from './row-parts.ts';

export interface RowPage {
  readonly rows: readonly PagedRow[];
  /** The last Service of this page; undefined: no page follows behind one. */
  readonly lastService?: string;
  /** More of `lastService`, or of the Service that was asked for, under this number. */
  readonly rest?: string;
  /** The rest that was asked for is not kept any more: `lastService` has to be read again. */
  readonly isLost?: true;
}

export type RowRequest =
  | { readonly afterService?: string; readonly withCandidates: boolean }
  | { readonly ofService: string; readonly withCandidates: boolean }
  | { readonly rest: string; readonly withCandidates: boolean };

/** What is left of a Service whose rows are larger than a page: they are read as they were then. */
interface Rest {
  readonly service: string;
  readonly rows: readonly PagedRow[];
  /** The row, and how much of it was sent. */
  index: number;
  from: number;
}

/**
 * Frontends and endpoints per page: about 200 kB of JSON. A page is rendered in one event loop
 * iteration, so it must not take much longer than a change.
 */
const PAGE_SIZE = 2_000;
/** Each holds the rows of one Service until it is read to its end, or others are. */
const MOST_RESTS = 8;

/** Pages of desired rows, so that reading fifty thousand delays no change. */
export class RowPages {
  readonly #table: () => ForwardingTable;
  readonly #stateOf: ((id: ServicePortId) => RowState) | undefined;
  /** Sorted once for all pages of a request: sorting for each page would cost more. */
  #names: readonly string[] | undefined;
  /** Least recently read first. */
  readonly #rests = new Map<string, Rest>();
  #restCount = 0;

  constructor(table: () => ForwardingTable, stateOf?: (id: ServicePortId) => RowState) {
    this.#table = table;
    this.#stateOf = stateOf;
  }

  page(request: RowRequest): RowPage {
    const { withCandidates } = request;
    if ('rest' in request) return this.#restOf(request.rest);
    if ('ofService' in request) {
      const { ofService: service } = request;
      return this.#begin(service, this.#rowsOf(service, withCandidates), { room: PAGE_SIZE });
    }
    const { afterService } = request;
    if (afterService === undefined) this.#names = undefined;
    this.#names ??= this.#table().serviceNames();
    const names = this.#names;
    const rows: PagedRow[] = [];
    let room = PAGE_SIZE;
    let index = afterService === undefined ? 0 : firstAfter(names, afterService);
    for (; index < names.length && room > 0; index += 1) {
      const service = names[index] ?? '';
      const page = this.#begin(service, this.#rowsOf(service, withCandidates), { room });
      rows.push(...page.rows);
      if (page.rest !== undefined) return { rows, lastService: service, rest: page.rest };
      // A Service without rows counts as read.
      room -= 1 + page.rows.reduce((sum, row) => sum + sizeOf(row), 0);
    }
    const lastService = index < names.length ? names[index - 1] : undefined;
    if (lastService === undefined) this.#names = undefined;
    return lastService === undefined ? { rows } : { rows, lastService };
  }

  /** The rows of a Service, as many as there is room for. */
  #begin(service: string, all: readonly PagedRow[], { room }: { readonly room: number }): RowPage {
    const rest: Rest = { service, rows: all, index: 0, from: 0 };
    const rows = nextRows(rest, room);
    if (rest.index === all.length) return { rows };
    const number = String(this.#restCount++);
    this.#rests.set(number, rest);
    for (const oldest of this.#rests.keys()) {
      if (this.#rests.size <= MOST_RESTS) break;
      this.#rests.delete(oldest);
    }
    return { rows, rest: number };
  }

  #restOf(number: string): RowPage {
    const rest = this.#rests.get(number);
    if (rest === undefined) return { rows: [], isLost: true };
    const { service: lastService } = rest;
    const rows = nextRows(rest, PAGE_SIZE);
    this.#rests.delete(number);
    if (rest.index === rest.rows.length) return { rows, lastService };
    this.#rests.set(number, rest);
    return { rows, lastService, rest: number };
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
      const backing = backingOf(service, slices, id.family);
      return { forwarding, candidates, backing, ...(kernel === undefined ? {} : { kernel }) };
    });
  }
}

/** The next rows and parts of rows, about so much of them; at least one. */
function nextRows(rest: Rest, room: number): PagedRow[] {
  const found: PagedRow[] = [];
  let left = room;
  for (
    let row = rest.rows[rest.index];
    row !== undefined && left > 0;
    row = rest.rows[rest.index]
  ) {
    const part = partOf(row, { from: rest.from, most: left });
    found.push(part);
    left -= Math.max(1, sizeOf(part));
    rest.from += sizeOf(part);
    if (rest.from < sizeOf(row)) break;
    rest.index++;
    rest.from = 0;
  }
  return found;
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

/** Not `/rows`, which earlier versions answer with whole Services and read as such. */
const ROWS = '/row-parts';
const WITH_CANDIDATES = '/row-parts-with-candidates';

/** The path of a request: names of Services hold no characters that it would have to escape twice. */
export function rowPath(request: RowRequest): string {
  const base = request.withCandidates ? WITH_CANDIDATES : ROWS;
  if ('ofService' in request) return `${base}/of/${encodeURIComponent(request.ofService)}`;
  if ('rest' in request) return `${base}/rest/${encodeURIComponent(request.rest)}`;
  const { afterService } = request;
  return afterService === undefined ? base : `${base}/after/${encodeURIComponent(afterService)}`;
}

/** Undefined: another path. */
export function parseRowPath(path: string): RowRequest | undefined {
  const found = /^(\/row-parts|\/row-parts-with-candidates)(?:\/(of|after|rest)\/([^/]+))?$/.exec(
    path,
  );
  if (found === null) return undefined;
  const [, base, which, encoded] = found;
  const withCandidates = base === WITH_CANDIDATES;
  if (which === undefined || encoded === undefined) return { withCandidates };
  const name = decodedPart(encoded);
  if (name === undefined) return undefined;
  if (which === 'of') return { ofService: name, withCandidates };
  if (which === 'rest') return { rest: name, withCandidates };
  return { afterService: name, withCandidates };
}
