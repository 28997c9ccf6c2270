import { setImmediate as turn } from 'node:timers/promises';
import type { Source, SourceEvent } from '../cluster/source.ts';
import type { ModeNeeds } from '../config/modes.ts';
import type { DataPlane, Desired, Drift, NodeFacts } from '../dataplanes/contract.ts';
import { type ServicePortId, servicePortKey } from '../forwarding/model.ts';
import type { ForwardingTable } from '../forwarding/table.ts';
import type { Logger } from '../log/logger.ts';
import type { Clock } from '../time/clock.ts';
import type { Random } from '../time/retry-delay.ts';
import { runTogether } from '../time/run-together.ts';
import { Wake } from '../time/wake.ts';
import { AddressWatch } from './address-watch.ts';
import { AffinityWatch } from './affinity-watch.ts';
import type { AgentSettings } from './agent-settings.ts';
import { ConditionBook } from './condition-book.ts';
import type { Conditions } from './conditions.ts';
import type { Context } from './context.ts';
import { datedConditions, datedSnapshot, datesBy } from './dates.ts';
import { DriftLog } from './drift-log.ts';
import type { ServiceHealthCheck } from './health-checks.ts';
import type { HeldPort, HostSockets } from './host-sockets.ts';
import { Intake } from './intake.ts';
import type { MachineAddresses } from './machine-addresses.ts';
import type { NoLocalCount } from './no-local.ts';
import { type AgentObserver, Observers } from './observer.ts';
import { Outstanding } from './outstanding.ts';
import { type Pace, paceOf } from './pace.ts';
import { PlaneWatch } from './plane-watch.ts';
import { Propagations } from './propagation.ts';
import { RecentValues } from './quantiles.ts';
import { Reconciler } from './reconciler.ts';
import { releasePlane } from './release.ts';
import { type RowState, rowStateOf } from './row-state.ts';
import { type ScopeReport, scopeReport } from './scope-report.ts';
import { type AgentSnapshot, failingRow } from './snapshot.ts';

const READ_BACK_MS = 600_000;
/** How often conditions are assessed that no event announces. */
const TICK_MS = 1000;
const FAILING_ROWS_SHOWN = 20;
const NOT_SERVED_SHOWN = 20;

export interface AgentOptions {
  readonly plane: DataPlane;
  readonly source: Source;
  readonly addresses: MachineAddresses;
  /** Undefined: the ports that processes hold are not watched, and nothing waits for them. */
  readonly hostSockets?: HostSockets;
  readonly settings: AgentSettings;
  readonly needs: ModeNeeds;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observers?: readonly AgentObserver[];
  /** How often the kernel is inspected completely without any drift. */
  readonly readBackMs?: number;
  readonly random?: Random;
}

/** Makes the kernel do what the cluster wants of this node, and keeps it so. */
export class Agent {
  readonly #options: AgentOptions;
  readonly #startedAtMs: number;
  readonly #context: Context;
  readonly #reconciler: Reconciler;
  readonly #watch: PlaneWatch;
  readonly #wake = new Wake();
  readonly #drifts = new DriftLog();
  readonly #book: ConditionBook;
  readonly #affinity: AffinityWatch;
  readonly #addressWatch: AddressWatch;
  readonly #received = new RecentValues();
  readonly #triggered = new RecentValues();

  constructor(options: AgentOptions) {
    const { plane, settings, nodeName, clock, log } = options;
    const random = options.random ?? Math.random;
    this.#options = options;
    this.#startedAtMs = clock.monotonicMs();
    this.#context = {
      plane,
      intake: new Intake({
        settings,
        needs: options.needs,
        nodeName,
        expectsHostSockets: options.hostSockets !== undefined,
      }),
      outstanding: new Outstanding({
        monotonicMs: () => clock.monotonicMs(),
        onSettled: (id) => this.#reconciler.healthChecks.rowSettled(id),
      }),
      propagations: new Propagations(this.#startedAtMs, clock),
      observers: new Observers([this.#ownObserver(), ...(options.observers ?? [])], log),
      clock,
      random,
      log,
    };
    this.#reconciler = new Reconciler(this.#context, options.readBackMs ?? READ_BACK_MS);
    this.#book = new ConditionBook(log, (name, isTrue) =>
      this.#context.observers.tell((observer) => observer.onCondition?.(name, isTrue)),
    );
    this.#affinity = new AffinityWatch(this.#context);
    this.#addressWatch = new AddressWatch(this.#context, options.hostSockets);
    this.#watch = new PlaneWatch({
      plane,
      clock,
      random,
      onDrift: (drift) => this.#takeDrift(drift),
      onResumed: () => this.#wantInspection(),
      onInterrupted: ({ code, message }) =>
        log.warn({ code }, `cannot watch the kernel for external changes: ${message}`),
    });
  }

  /** Works until the signal is aborted, and leaves what the kernel does alone as it is then. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#runParts(signal);
    } finally {
      if (this.#reconciler.isOpen) await releasePlane(this.#context);
    }
  }

  async #runParts(signal: AbortSignal): Promise<void> {
    const { source, addresses, hostSockets } = this.#options;
    await runTogether(
      [
        (stop) => this.#watch.run(stop),
        (stop) => source.run((event) => this.#takeEvent(event), stop),
        (stop) => addresses.run((all) => this.#takeAddresses(all), stop),
        (stop) => this.#loop(stop),
        (stop) => this.#tick(stop),
        (stop) => this.#affinity.run(stop),
        (stop) => this.#addressWatch.run(stop),
        ...(hostSockets
          ? [(stop: AbortSignal) => hostSockets.run((all) => this.#takeHostSockets(all), stop)]
          : []),
      ],
      signal,
    );
  }

  /** Applies new settings; those that cannot change while running keep their value. */
  reconfigure(settings: AgentSettings): void {
    const { nodeObject, masquerade } = this.#context.intake.settings;
    const { markBit } = masquerade;
    this.#context.intake.takeSettings({
      ...settings,
      nodeObject,
      masquerade: { ...settings.masquerade, markBit },
    });
    this.#changed();
  }

  /** The desired rows of this node, for commands that explain or compare. */
  get table(): ForwardingTable {
    return this.#context.intake.table;
  }

  /** The facts of the machine that the data plane needs besides the rows. */
  get facts(): NodeFacts {
    return this.#context.intake.facts;
  }

  /** Whether the kernel has a desired row. A change of this event loop iteration may be missing. */
  rowState(id: ServicePortId): RowState {
    const { outstanding, clock } = this.#context;
    const entry = outstanding.get(servicePortKey(id), id.namespace);
    return rowStateOf(entry, clock.monotonicMs());
  }

  /** Which lists were not received completely yet: until then rows are missing. */
  missing(): readonly string[] {
    return this.#context.intake.missing();
  }

  /** The desired state of the kernel, for a plane's `diff`. */
  desired(): Desired {
    const { facts, table } = this.#context.intake;
    return { facts, rows: table.rows() };
  }

  /** By `namespace/name`, only Services that have a health port. */
  get healthChecks(): ReadonlyMap<string, ServiceHealthCheck> {
    return this.#reconciler.healthChecks.all;
  }

  /** The contents of the desired rows. */
  noLocal(): readonly NoLocalCount[] {
    return this.#reconciler.noLocal.counts();
  }

  /** Undefined: all Services are read. */
  scope(): ScopeReport | undefined {
    const { scope } = this.#context.intake.settings;
    const sources = this.#options.source.health();
    return scope === undefined ? undefined : scopeReport(scope, { table: this.table, sources });
  }

  conditions(): Conditions {
    return datedConditions(this.#assess(), datesBy(this.#context.clock));
  }

  /** With times of the monotonic clock. */
  #assess(): Conditions {
    const { intake, outstanding, clock } = this.#context;
    const reconciler = this.#reconciler;
    return this.#book.conditions({
      nowMs: clock.monotonicMs(),
      startedAtMs: this.#startedAtMs,
      syncPeriodMs: intake.settings.syncPeriodMs,
      sources: this.#options.source.health(),
      server: this.#options.source.server?.(),
      missing: intake.missing(),
      firstSyncAtMs: reconciler.firstSyncAtMs,
      pendingCount: outstanding.size,
      pendingSinceMs: {
        IPv4: reconciler.pendingSinceMs('IPv4'),
        IPv6: reconciler.pendingSinceMs('IPv6'),
      },
      lastSyncedAtMs: reconciler.lastSyncedAtMs,
      failure: reconciler.failure,
      lastDrift: this.#drifts.lastExternal,
      interruption: this.#watch.interruption,
      pace: this.#pace(),
      affinityFill: this.#affinity.fill,
      addresses: this.#addressWatch.report(),
      expectsNode: intake.settings.nodeObject === 'expected',
      node: intake.node,
    });
  }

  snapshot(): AgentSnapshot {
    const { plane, source } = this.#options;
    const { intake, outstanding, clock } = this.#context;
    const { zone } = intake.settings;
    const scope = this.scope();
    const { last } = this.#reconciler.inspector;
    const { clientInterfaces } = this.facts;
    const snapshot: AgentSnapshot = {
      mode: plane.mode,
      node: this.table.view,
      ...(clientInterfaces === undefined ? {} : { clientInterfaces }),
      ...(zone === undefined ? {} : { zone }),
      ...(scope === undefined ? {} : { scope }),
      startedAtMs: this.#startedAtMs,
      atMs: clock.monotonicMs(),
      rows: this.#reconciler.rowCounts(),
      failingRows: outstanding.failing(FAILING_ROWS_SHOWN).map(failingRow),
      failingRowCount: outstanding.failedCount,
      pace: this.#pace(),
      ...(this.#affinity.fill === undefined ? {} : { affinityFill: this.#affinity.fill }),
      addresses: this.#addressWatch.report(),
      notServed: this.#addressWatch.notServed(NOT_SERVED_SHOWN),
      conditions: this.#assess(),
      ...(last === undefined ? {} : { lastInspection: last }),
      drifts: this.#drifts.last,
      driftCount: this.#drifts.count,
      propagation: {
        received: this.#received.quantiles(),
        triggered: this.#triggered.quantiles(),
      },
      sources: source.health(),
      ...(source.server ? { apiServer: source.server() } : {}),
    };
    return datedSnapshot(snapshot, datesBy(clock));
  }

  #pace(): Pace {
    const { outstanding, plane, clock } = this.#context;
    const { objectsPerStep = Number.POSITIVE_INFINITY } = plane;
    return paceOf(outstanding, { nowMs: clock.monotonicMs(), objectsPerStep });
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    while (!signal.aborted) {
      // Whatever else this event loop iteration brings goes into the same step.
      await turn();
      await this.#reconciler.advance(signal);
      const ms = this.#reconciler.nextAtMs() - clock.monotonicMs();
      await this.#wake.wait(signal, { ms, clock });
    }
  }

  async #tick(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#assess();
      await this.#context.clock.sleep(TICK_MS, signal);
    }
  }

  #takeEvent(event: SourceEvent): void {
    const { intake, propagations, observers, clock } = this.#context;
    const atMs = clock.monotonicMs();
    const { service, formerService, slice, triggeredAtMs, change } = intake.take(event);
    if (event.type !== 'synced') {
      const { kind, type } = event;
      observers.tell((observer) => observer.onReceived?.({ kind, type, service, atMs }));
    }
    if (service !== undefined) this.#reconciler.healthChecks.serviceChanged(service);
    if (slice !== undefined) this.#reconciler.healthChecks.sliceChanged(slice);
    if (this.#reconciler.isOpen && (service ?? slice) !== undefined) {
      propagations.received({ service, atMs, triggeredAtMs });
      if (formerService !== undefined) {
        propagations.received({ service: formerService, atMs, triggeredAtMs: undefined });
      }
    }
    if (this.#reconciler.isOpen && change !== undefined) {
      observers.tell((observer) => observer.onObjectChanged?.(change, atMs));
    }
    this.#changed();
  }

  #takeAddresses(addresses: readonly string[]): void {
    this.#context.intake.takeMachineAddresses(addresses);
    this.#changed();
  }

  #takeHostSockets(sockets: readonly HeldPort[]): void {
    this.#context.intake.takeHostSockets(sockets);
    this.#changed();
  }

  #takeDrift(drift: Drift): void {
    const { log, observers, clock } = this.#context;
    const atMs = clock.monotonicMs();
    this.#drifts.note({ ...drift, atMs });
    const isFirst = this.#reconciler.plan.wanted === undefined;
    const what = drift.isOwn ? drift.what : `changed by another process: ${drift.what}`;
    log[isFirst ? 'warn' : 'debug']({ ...drift.by }, what);
    observers.tell((observer) => observer.onDrift?.(drift));
    if (!this.#reconciler.isOpen) return;
    this.#reconciler.plan.wantAfterDrift(atMs);
    this.#wake.call();
  }

  #wantInspection(): void {
    if (!this.#reconciler.isOpen) return;
    const { clock } = this.#context;
    this.#reconciler.plan.wantEverything('watch was interrupted', clock.monotonicMs());
    this.#wake.call();
  }

  #changed(): void {
    if (!this.#reconciler.isOpen) {
      if (!this.#context.intake.isComplete) return;
      this.#reconciler.open();
    }
    this.#reconciler.noteUntaken();
    this.#wake.call();
  }

  #ownObserver(): AgentObserver {
    return {
      onAcknowledged: ({ propagations }) => {
        for (const { totalMs, sinceTriggeredMs } of propagations) {
          this.#received.add(totalMs);
          for (const ms of sinceTriggeredMs) this.#triggered.add(ms);
        }
      },
    };
  }
}
