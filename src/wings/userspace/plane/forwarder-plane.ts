import type {
  AffinityFill,
  Attachment,
  DataPlane,
  Desired,
  Difference,
  Drift,
  EndpointCount,
  Holding,
  Inspection,
  InspectionDepth,
  KernelFrontend,
  Readers,
  ReadingKey,
  Readings,
  RowChange,
} from '../../../dataplanes/contract.ts';
import { Differences } from '../../../dataplanes/differences.ts';
import { type Forwarding, servicePortKey } from '../../../forwarding/model.ts';
import { DeclinedRows, type WriteKept } from './declined-rows.ts';
import { CHANGE_MS, compareRows, everyRow, type Filled, fill, send } from './fill.ts';
import { returnMark } from './forwarder/return-path.ts';
import type { WireEndpoint, WireEndpointCount } from './forwarder-protocol.ts';
import type { ForwarderReport } from './forwarder-report.ts';
import { ForwarderWatch } from './forwarder-watch.ts';
import { HandOver, type WriteHandOver } from './hand-to-forwarder.ts';
import { ForwarderKeeper, type KeeperOptions } from './keeper.ts';
import { endOf, type Removal, removeForwarder } from './remove-forwarder.ts';
import { currentSockets } from './run-files.ts';
import { ANSWER_MS, askOnce, isSilent } from './running.ts';
import { wireChange } from './wire-rows.ts';

export interface ForwarderPlaneOptions extends KeeperOptions, Removal {
  readonly writeHandOver: WriteHandOver;
  readonly writeKept: WriteKept;
  /** Counts what `removeRoutes` would delete. */
  readonly routeHoldings: () => Promise<readonly Holding[]>;
  /** New TCP connections that nftables translated itself. */
  readonly readTranslated?: () => Promise<number>;
}

const EVERY_ENDPOINT_MS = 10_000;
/** For open connections where the forwarder ends with the agent, as in a container. */
const RELEASE_DRAIN_MS = 20_000;

/**
 * The data plane of a process that accepts connections, chooses an endpoint, connects to it and
 * copies. nftables behind hands connections over to it while it answers, and otherwise forwards
 * them itself: without the process nothing is lost but its open connections.
 */
export class ForwarderPlane implements DataPlane {
  readonly mode = 'forwarder';
  readonly #options: ForwarderPlaneOptions;
  readonly #keeper: ForwarderKeeper;
  readonly #handOver: HandOver;
  readonly #declined: DeclinedRows;
  /** Whether the forwarder has what was inspected and applied. */
  #isFilled = false;
  #onDrift: ((drift: Drift) => void) | undefined;

  constructor(options: ForwarderPlaneOptions) {
    this.#options = options;
    this.#keeper = new ForwarderKeeper(options);
    this.#handOver = new HandOver(options.writeHandOver);
    this.#declined = new DeclinedRows(options.writeKept);
  }

  async inspect(desired: Desired, depth: InspectionDepth): Promise<Inspection> {
    if (depth === 'reported' && this.#isServing) return nothingDiffers(desired);
    try {
      return await this.#inspectEverything(desired);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      await this.#distrust(why);
      // It may answer again, and is not to be removed: the watch reports it then.
      if (isSilent(error) && this.#keeper.current) return withOne(desired, 'different', why);
      throw error;
    }
  }

  async configure(): Promise<void> {
    // nftables alone knows the machine: by its rules a connection comes to one listener or another.
  }

  /**
   * Does not reject: a forwarder that cannot take a change gets no connections any more, until an
   * inspection has compared all its rows. The kernel needs none of them.
   */
  async apply(changes: readonly RowChange[]): Promise<void> {
    const wire = changes.map(wireChange).filter((change) => change !== undefined);
    if (wire.length === 0 || !this.#isFilled) return;
    const running = this.#keeper.current;
    try {
      if (!running) return;
      const declined = await send(running.work, wire, CHANGE_MS);
      await this.#declined.changed(changes, declined);
    } catch (error) {
      await this.#distrust(`a change failed: ${String(error)}`);
      const what = `the forwarder did not take a change: ${String(error)}`;
      this.#onDrift?.({ what, isOwn: true });
    }
  }

  async diff({ rows }: Desired): Promise<readonly Difference[]> {
    const digests = await askOnce(this.#control, { do: 'digests' }, EVERY_ENDPOINT_MS);
    if (digests === undefined) return [{ kind: 'missing', object: 'forwarder process' }];
    const { differences } = await compareRows(digests, rows, Differences.ofAll());
    return differences.described;
  }

  async watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    this.#onDrift = onDrift;
    const watched = {
      keeper: this.#keeper,
      handOver: this.#handOver,
      isFilled: () => this.#isFilled,
      distrust: (why: string) => this.#distrust(why),
      refresh: this.#options.prepare,
    };
    await new ForwarderWatch(watched, onDrift).run(signal);
  }

  async read<K extends ReadingKey>(
    key: K,
    rows?: readonly Forwarding[],
  ): Promise<Readings[K] | undefined> {
    return await (this as Readers)[key]?.(rows);
  }

  async counters(rows?: readonly Forwarding[]): Promise<readonly EndpointCount[]> {
    const counts = await askOnce(this.#control, { do: 'counts' }, EVERY_ENDPOINT_MS);
    const wanted = rows && new Set(rows.map(({ id }) => servicePortKey(id)));
    const found = counts?.endpoints.filter(({ row }) => wanted?.has(row) ?? true) ?? [];
    return found.map(endpointCount);
  }

  async affinityFill(): Promise<AffinityFill> {
    const counts = await askOnce(this.#control, { do: 'counts' }, EVERY_ENDPOINT_MS);
    return counts?.affinity ?? { remembered: 0, room: 0, full: [] };
  }

  async attachments(): Promise<readonly Attachment[]> {
    const running = this.#keeper.current;
    const at = (name: string, isAttached: boolean) => ({ place: 'forwarder', name, isAttached });
    const { isOn } = this.#handOver;
    return [
      at('process', running !== undefined && this.#isFilled),
      at('listeners IPv4', isOn),
      ...(running?.hello.ports.IPv6 ? [at('listeners IPv6', isOn)] : []),
    ];
  }

  async report(): Promise<ForwarderReport> {
    const translatedByKernel = await this.#options.readTranslated?.();
    const process = await this.#process();
    const { isOn, why } = this.#handOver;
    const { startCount, handedOver } = this.#keeper;
    const declined = this.#declined.report;
    return {
      ...process,
      newConnectionsTo: isOn ? 'forwarder' : 'kernel',
      ...(isOn ? {} : { why }),
      startCount,
      handedOver,
      ...(declined === undefined ? {} : { declined }),
      ...(translatedByKernel === undefined ? {} : { translatedByKernel }),
    };
  }

  /** The kernel objects are those of nftables behind. */
  async frontends(): Promise<readonly KernelFrontend[]> {
    return [];
  }

  async inventory(): Promise<readonly Holding[]> {
    const routes = await this.#options.routeHoldings();
    return (await this.#isThere()) ? [{ what: 'processes', count: 1 }, ...routes] : routes;
  }

  /** A forwarder that hangs too. */
  async #isThere(): Promise<boolean> {
    try {
      return (await askOnce(this.#control, { do: 'hello' })) !== undefined;
    } catch (error) {
      if (!isSilent(error)) throw error;
      return true;
    }
  }

  /** Open connections go on until the deadline of the drain; the kernel forwards new ones at once. */
  async remove(): Promise<void> {
    await this.#distrust('the forwarder was removed');
    await removeForwarder(this.#keeper, this.#options);
  }

  /** The forwarder goes on with its connections. */
  async release(): Promise<void> {
    await this.#handOver.close('the agent ended');
    this.#keeper.release();
  }

  /** After `release`: its last connection has ended, or another process has taken it over. */
  async drained(): Promise<void> {
    const running = this.#keeper.current;
    if (running === undefined) return;
    const drain = { do: 'drain', deadlineMs: RELEASE_DRAIN_MS, final: false } as const;
    await running.work.ask<'drain'>(drain, ANSWER_MS);
    await endOf(running, RELEASE_DRAIN_MS);
  }

  async #inspectEverything(desired: Desired): Promise<Inspection> {
    const before = this.#keeper.startCount;
    let filled: Filled | undefined;
    this.#isFilled = false;
    const running = await this.#keeper.ensure({
      returnMark: returnMark(desired.facts.masqueradeMark),
      fill: async (link) => {
        filled = await fill(link, desired.rows);
      },
    });
    this.#isFilled = true;
    await this.#declined.inspected(desired.rows, filled?.declined ?? new Set());
    await this.#options.prepare();
    await this.#handOver.on(running.hello.ports);
    const writeCount = filled?.compared.changes.length ?? 0;
    // A new process has no rows, which is no news.
    if (this.#keeper.startCount > before) {
      return { ...withOne(desired, 'missing', 'it was started'), writeCount };
    }
    const { described = [], count = 0 } = filled?.compared.differences ?? {};
    const right = everyRow(desired.rows);
    return { right, differences: described, differenceCount: count, writeCount };
  }

  /** From now on the kernel forwards alone, until an inspection has succeeded. */
  async #distrust(why: string): Promise<void> {
    this.#isFilled = false;
    await this.#handOver.off(why);
  }

  async #process(): Promise<Pick<ForwarderReport, 'process'>> {
    const { hello, work } = this.#keeper.current ?? {};
    if (!hello || !work || this.#keeper.silence.isNoted) return {};
    try {
      const totals = await askOnce(this.#control, { do: 'totals' });
      const pulse = await askOnce(this.#control, { do: 'pulse' });
      if (!totals || !pulse) return {};
      const { pid, threadCount } = hello;
      return { process: { pid, threadCount, mostConnections: pulse.mostConnections, totals } };
    } catch (error) {
      if (!isSilent(error)) throw error;
      return {};
    }
  }

  /** One that hangs is not: the inspection that it leads to has to kill it. */
  get #isServing(): boolean {
    const isOpen = this.#keeper.current?.work.isOpen === true;
    return this.#isFilled && isOpen && !this.#keeper.silence.isOver;
  }

  get #control(): string {
    return currentSockets(this.#options.runFolder).control;
  }
}

function nothingDiffers({ rows }: Desired): Inspection {
  return { right: everyRow(rows), differences: [], differenceCount: 0, writeCount: 0 };
}

function withOne({ rows }: Desired, kind: Difference['kind'], why: string): Inspection {
  const differences = [{ kind, object: `forwarder process: ${why}` }];
  return { right: everyRow(rows), differences, differenceCount: 1, writeCount: 0 };
}

interface StreamedCount extends EndpointCount {
  readonly streams: Omit<WireEndpointCount, 'row' | 'endpoint'>;
}

function endpointCount(count: WireEndpointCount): StreamedCount {
  const { row, endpoint, ...streams } = count;
  return {
    service: row,
    endpoint: endpointText(endpoint),
    connections: streams.connections,
    bytes: streams.bytesToEndpoint + streams.bytesToClient,
    streams,
  };
}

/** As the other planes write it: `[fd00::1]:80`. */
function endpointText(endpoint: WireEndpoint): string {
  const [address = '', port = ''] = endpoint.split(' ');
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
