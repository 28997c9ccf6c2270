import { constants } from 'node:os';
import { sleep } from '../../time/sleep.ts';
import { effectiveCapabilities } from '../capabilities.ts';
import { NetlinkError } from '../netlink/netlink-error.ts';
import { type Netlink, openNetlink } from '../netlink/netlink-socket.ts';
import { NftConnection } from '../nftables/nft-connection.ts';
import { NETLINK_NETFILTER, NFNLGRP_NFTRACE } from '../nftables/nftables-protocol.ts';
import { decodeTrace, type TraceEvent } from './decode-trace.ts';
import { PROBE_TABLE_NAME, type TracedFlow, writeProbeTable } from './probe-table.ts';

/** A probe ends within 5 s. */
const OTHER_PROBE_MS = 6000;
const PAUSE_MS = 20;
const EVENT_BUFFER_BYTES = 1024 * 1024;
const { EPERM, EOPNOTSUPP, EINVAL } = constants.errno;

export interface TraceOptions {
  /** Ends the trace, and removes its table; to be aborted also when opening it fails. */
  readonly signal: AbortSignal;
  /** The probe's packet is dropped after all rules, before it is sent or delivered. */
  readonly stopsAtEnd: boolean;
  /**
   * Of each connection only the first packet, and its rejection by this machine: for connections of
   * others, which must not pay for every packet. Of UDP every packet may be the first.
   */
  readonly firstPacketsOnly?: boolean;
}

/**
 * What the packets of one probe meet in nf_tables, told by the kernel while the trace is open. The
 * table that asks for it has the owner flag: the kernel removes it with our socket, also when this
 * process is killed.
 */
export class PacketTrace {
  readonly #own = new Set<number>();
  readonly #events: TraceEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #isComplete = true;

  /** Events of our probe, in order. */
  get events(): readonly TraceEvent[] {
    return this.#events.filter(({ packetId }) => this.#own.has(packetId));
  }

  /** Events of packets that another process traces. */
  get otherCount(): number {
    return this.#events.length - this.events.length;
  }

  /** False: the kernel had no room for some events. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  take(event: TraceEvent): void {
    // Only our own packets match a rule of our table; what they met before it belongs to them too.
    const isOwn = event.table === PROBE_TABLE_NAME && event.handle !== undefined;
    if (isOwn) this.#own.add(event.packetId);
    this.#events.push(event);
    for (const wake of this.#waiting) wake();
  }

  loseSome(): void {
    this.#isComplete = false;
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when the events are as wanted, or with false after the timeout. */
  async until(
    isEnough: (events: readonly TraceEvent[]) => boolean,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<boolean> {
    if (isEnough(this.events)) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const wake = (): void => {
      if (isEnough(this.events)) resolve(true);
    };
    const onAbort = (): void => resolve(false);
    const timer = setTimeout(() => resolve(false), timeoutMs);
    this.#waiting.add(wake);
    signal.addEventListener('abort', onAbort);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(wake);
      signal.removeEventListener('abort', onAbort);
    }
  }
}

/**
 * Opens a trace in the network namespace of this thread. One runs at a time: it waits for another
 * probe to end. Throws TraceError.
 */
export async function openTrace(flow: TracedFlow, options: TraceOptions): Promise<PacketTrace> {
  const deadlineMs = performance.now() + OTHER_PROBE_MS;
  for (;;) {
    try {
      return await openOrReject(flow, options);
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      const isOver = performance.now() >= deadlineMs || options.signal.aborted;
      if (isOver || !isOwnedByAnother(error)) throw traceError(error);
      await sleep(PAUSE_MS, options.signal);
    }
  }
}

/** The kernel has one errno for a table of another process and for a missing capability. */
function isOwnedByAnother({ errno }: NetlinkError): boolean {
  return errno === EPERM && effectiveCapabilities().has('NET_ADMIN');
}

async function openOrReject(flow: TracedFlow, options: TraceOptions): Promise<PacketTrace> {
  const trace = new PacketTrace();
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const events = openNetlink({
    protocol: NETLINK_NETFILTER,
    groups: [NFNLGRP_NFTRACE],
    receiveBufferBytes: EVENT_BUFFER_BYTES,
  });
  listen(events, trace, signal);
  const table = new NftConnection(openNetlink({ protocol: NETLINK_NETFILTER }));
  signal.addEventListener('abort', () => table[Symbol.dispose](), { once: true });
  try {
    const batch = table.begin();
    writeProbeTable(batch, flow, options);
    await table.commit(batch);
    return trace;
  } catch (error) {
    failed.abort();
    throw error;
  }
}

function listen(events: Netlink, trace: PacketTrace, signal: AbortSignal): void {
  const onMessage = (message: Parameters<typeof decodeTrace>[0]): void => {
    const event = decodeTrace(message);
    if (event !== undefined) trace.take(event);
  };
  void events.listen({ onMessage, onOverrun: () => trace.loseSome() }, signal).then(
    () => events[Symbol.dispose](),
    () => {
      // A socket that cannot be read tells nothing more: what is missing must not look like silence.
      trace.loseSome();
      events[Symbol.dispose]();
    },
  );
}

function traceError(cause: NetlinkError): TraceError {
  if (isOwnedByAnother(cause)) {
    return new TraceError('PROBE_BUSY', 'another probe, or --watch, is running on this machine', {
      next: 'ask again when it has ended',
      cause,
    });
  }
  if (cause.errno === EPERM) {
    return new TraceError('PROBE_NOT_PERMITTED', 'this process lacks CAP_NET_ADMIN for a trace', {
      next: 'run it as root',
      cause,
    });
  }
  if (cause.errno === EOPNOTSUPP || cause.errno === EINVAL) {
    return new TraceError(
      'PROBE_UNSUPPORTED',
      'the kernel has no tables with an owner, or no trace',
      {
        next: 'use Linux 5.12 or later, or --probe none',
        cause,
      },
    );
  }
  const message = `the kernel rejects the probe table: ${cause.message}`;
  return new TraceError('PROBE_REJECTED', message, { next: 'use --probe none', cause });
}

type TraceErrorCode = 'PROBE_NOT_PERMITTED' | 'PROBE_BUSY' | 'PROBE_UNSUPPORTED' | 'PROBE_REJECTED';

/** A probe cannot be traced. */
export class TraceError extends Error {
  override readonly name = 'TraceError';
  readonly code: TraceErrorCode;
  /** What a person can do about it. */
  readonly next: string;

  constructor(
    code: TraceErrorCode,
    message: string,
    about: { readonly next: string; readonly cause?: unknown },
  ) {
    super(message, { cause: about.cause });
    this.code = code;
    this.next = about.next;
  }
}
