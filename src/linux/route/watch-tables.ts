import { sleep } from '../../time/sleep.ts';
import { Wake } from '../../time/wake.ts';
import { dump } from '../netlink/netlink-exchange.ts';
import { type Netlink, type NetlinkSocketOptions, openNetlink } from '../netlink/netlink-socket.ts';
import type { NetlinkMessage } from '../netlink/reader.ts';
import {
  applyChange,
  emptyTables,
  type RouteChange,
  type RouteTables,
  readRouteChange,
} from './link-tables.ts';
import { type DumpQuestion, NETLINK_ROUTE } from './route-protocol.ts';

/** A pod that starts makes a dozen events within this time. */
const SETTLE_MS = 50;
const RECEIVE_BUFFER_BYTES = 1024 * 1024;
/** So many lists in a row may change while they are read, before one is believed all the same. */
const MOST_TORN_LISTS = 10;

export interface WatchOptions {
  /** Time in which changes are collected. */
  readonly settleMs?: number;
  readonly receiveBufferBytes?: number;
  /** In place of a socket of the kernel. */
  readonly open?: (options: NetlinkSocketOptions) => Netlink;
}

/** The groups to join, the dumps to request, and how to decode them. */
export interface TableView<Row> {
  readonly groups: readonly number[];
  readonly questions: readonly ((sequence: number) => DumpQuestion)[];
  /** Sorted, so that equal contents compare as equal. */
  rows(tables: RouteTables): readonly Row[];
  onChange(rows: readonly Row[]): void;
}

/**
 * Reports all rows once they are known, and after each change. Resolves when the signal is aborted,
 * rejects when the kernel rejects the request.
 */
export async function watchTables<Row>(
  view: TableView<Row>,
  signal: AbortSignal,
  options: WatchOptions = {},
): Promise<void> {
  await new TableWatch(view, options).run(signal);
}

class TableWatch<Row> {
  readonly #view: TableView<Row>;
  readonly #settleMs: number;
  readonly #receiveBufferBytes: number;
  readonly #open: (options: NetlinkSocketOptions) => Netlink;
  readonly #wake = new Wake();
  #tables = emptyTables();
  /** Changes that came while a list was read: the list may be older than they are. */
  #meanwhile: RouteChange[] | undefined;
  #isStale = true;
  #tornLists = 0;
  #told: string | undefined;

  constructor(view: TableView<Row>, options: WatchOptions) {
    this.#view = view;
    this.#settleMs = options.settleMs ?? SETTLE_MS;
    this.#receiveBufferBytes = options.receiveBufferBytes ?? RECEIVE_BUFFER_BYTES;
    this.#open = options.open ?? openNetlink;
  }

  async run(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { groups } = this.#view;
    const receiveBufferBytes = this.#receiveBufferBytes;
    // It receives events from now on; those before the first list stay in its buffer.
    using events = this.#open({ protocol: NETLINK_ROUTE, groups, receiveBufferBytes });
    const failure = new AbortController();
    const ended = AbortSignal.any([signal, failure.signal]);
    const passOn = (error: unknown): never => {
      failure.abort();
      throw error;
    };
    // Both must have ended before the socket is closed.
    const results = await Promise.allSettled([
      events.listen(this, ended).catch(passOn),
      this.#keepTelling(ended).catch(passOn),
    ]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  onMessage(message: NetlinkMessage): void {
    const change = readRouteChange(message);
    if (change === undefined) return;
    if (this.#meanwhile) this.#meanwhile.push(change);
    else applyChange(this.#tables, change);
    this.#wake.call();
  }

  onOverrun(): void {
    this.#isStale = true;
    this.#wake.call();
  }

  async #keepTelling(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#isStale) await this.#readLists();
      if (signal.aborted) return;
      if (!this.#isStale || this.#tornLists >= MOST_TORN_LISTS) this.#tellIfChanged();
      if (!this.#isStale) await this.#wake.wait(signal);
      await sleep(this.#settleMs, signal);
    }
  }

  /** On a socket of its own: an event can carry any sequence number, also that of a question. */
  async #readLists(): Promise<void> {
    this.#isStale = false;
    this.#meanwhile = [];
    const tables = emptyTables();
    using netlink = this.#open({ protocol: NETLINK_ROUTE });
    let sequence = 0;
    let isWhole = true;
    for (const ask of this.#view.questions) {
      const { consistent } = await dump(netlink, ask(++sequence), (message) => {
        const change = readRouteChange(message);
        if (change !== undefined) applyChange(tables, change);
      });
      isWhole &&= consistent;
    }
    for (const change of this.#meanwhile) applyChange(tables, change);
    this.#meanwhile = undefined;
    this.#tables = tables;
    // Events that were lost meanwhile tear a list just as well.
    if (!isWhole) this.#isStale = true;
    this.#tornLists = this.#isStale ? this.#tornLists + 1 : 0;
  }

  #tellIfChanged(): void {
    const rows = this.#view.rows(this.#tables);
    const text = JSON.stringify(rows);
    if (text === this.#told) return;
    this.#told = text;
    this.#view.onChange(rows);
  }
}
