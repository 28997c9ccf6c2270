import type { Kind } from '../cluster/object-kinds.ts';
import type { ServerReport } from '../cluster/server-report.ts';
import type { SourceHealth } from '../cluster/source.ts';
import type { AffinityFill } from '../dataplanes/contract.ts';
import type { Family } from '../forwarding/model.ts';
import type { AddressReport } from './address-watch.ts';
import { describeAffinity, hasAffinityRoom } from './affinity-watch.ts';
import type { Condition, Conditions, FamilyCondition } from './conditions.ts';
import type { SeenDrift } from './drift-log.ts';
import type { Failure } from './failure.ts';
import type { KnownNode } from './intake.ts';
import { conflictText } from './node-port-conflicts.ts';
import { describePace, type Pace } from './pace.ts';

const DISTURBED_FOR_MS = 600_000;
const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler';

/** All that the conditions follow from. Times are on the monotonic clock. */
export interface Assessed {
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly syncPeriodMs: number;
  readonly sources: readonly SourceHealth[];
  /** Undefined: there is no API server. */
  readonly server?: ServerReport | undefined;
  /** Inputs that are not complete yet. */
  readonly missing: readonly string[];
  readonly firstSyncAtMs: number | undefined;
  readonly pendingCount: number;
  readonly pendingSinceMs: Readonly<Record<Family, number | undefined>>;
  readonly lastSyncedAtMs: Readonly<Partial<Record<Family, number>>>;
  readonly failure: Failure | undefined;
  /** By another process. */
  readonly lastDrift: SeenDrift | undefined;
  readonly interruption: Failure | undefined;
  readonly pace: Pace;
  readonly affinityFill: AffinityFill | undefined;
  readonly addresses: AddressReport;
  readonly expectsNode: boolean;
  readonly node: KnownNode;
}

/** Returns since when a condition has its value, where that does not follow from anything else. */
export type SinceOf = (name: string, isTrue: boolean) => number;

/** Derives the conditions from the known facts. */
export function assess(about: Assessed, sinceOf: SinceOf): Conditions {
  const say = (name: string, isTrue: boolean, why: string): Condition => {
    return { isTrue, sinceMs: sinceOf(name, isTrue), why };
  };
  const connected = (kind: Kind): Condition => {
    const health = about.sources.find((source) => source.kind === kind);
    return say(`connected.${kind}`, health?.connected ?? true, whyConnected(health));
  };
  const kinds: Record<Kind, Condition> = {
    service: connected('service'),
    slice: connected('slice'),
    node: connected('node'),
    serviceCidr: connected('serviceCidr'),
    namespace: connected('namespace'),
  };
  const node = eligibility(about);
  return {
    connected: kinds,
    apiFresh: freshness(about, say),
    apiComplete: say('apiComplete', ...completeness(about.server)),
    listed: say('listed', isListed(about), whyListed(about)),
    firstSync: say('firstSync', about.firstSyncAtMs !== undefined, whyFirstSync(about)),
    synced: synced(about, say),
    timely: { IPv4: timeliness(about, 'IPv4'), IPv6: timeliness(about, 'IPv6') },
    errorFree: say(
      'errorFree',
      about.failure === undefined,
      whyOf(about.failure, 'no failed writes'),
    ),
    undisturbed: disturbance(about),
    watching: say(
      'watching',
      about.interruption === undefined,
      whyOf(about.interruption, 'external changes are detected'),
    ),
    unpaced: say('unpaced', isUnpaced(about.pace), describePace(about.pace)),
    affinityRoom: say(
      'affinityRoom',
      hasAffinityRoom(about.affinityFill),
      describeAffinity(about.affinityFill),
    ),
    addressesServed: say('addressesServed', ...addressesServed(about.addresses)),
    nodePortsFree: say('nodePortsFree', ...nodePortsFree(about.addresses)),
    nodeEligible: say('nodeEligible', node.isTrue, node.why),
  };
}

function addressesServed({ notServed }: AddressReport): [boolean, string] {
  const count = Object.values(notServed).reduce((sum, each) => sum + each, 0);
  if (count === 0) return [true, 'every address of every Service is served'];
  return [false, `${count} addresses are not served: see \`fairlead services\``];
}

function nodePortsFree({ conflicts }: AddressReport): [boolean, string] {
  const [first, ...more] = conflicts;
  if (first === undefined) return [true, 'no process listens on a node port'];
  return [false, `${conflictText(first)}${more.length > 0 ? `, and ${more.length} more` : ''}`];
}

function isUnpaced({ rowCount, namespaceCount }: Pace): boolean {
  return rowCount === 0 && namespaceCount === 0;
}

type Say = (name: string, isTrue: boolean, why: string) => Condition;

function whyConnected(health: SourceHealth | undefined): string {
  if (health === undefined) return 'not watched';
  if (health.absent !== undefined) return health.absent;
  if (health.connected) return 'watch established';
  return health.lastError ?? 'not connected yet';
}

const OPTIONAL: readonly Kind[] = ['serviceCidr', 'namespace'];

/** Kinds that not every cluster has, or lets a proxy read, do not count. */
function freshness({ sources, nowMs }: Assessed, say: Say): Condition {
  const silent = sources.filter(({ kind, connected }) => !OPTIONAL.includes(kind) && !connected);
  if (silent.length === 0) return say('apiFresh', true, 'all watches established');
  const heardAtMs = Math.min(...silent.map(({ lastHeardAtMs }) => lastHeardAtMs));
  const kinds = silent.map(({ kind }) => kind).sort();
  const ago =
    heardAtMs === 0 ? 'nothing received yet' : `nothing received for ${seconds(nowMs - heardAtMs)}`;
  return say('apiFresh', false, `${kinds.join(', ')}: ${ago}; the kernel keeps its current rules`);
}

function completeness(server: ServerReport | undefined): [boolean, string] {
  if (server === undefined) return [true, 'no API server is used'];
  const lacking = server.gaps.map(({ feature }) => feature);
  const { version = 'the API server' } = server;
  const why =
    lacking.length === 0 ? 'serves every API that Fairlead uses' : `lacks ${lacking.join(', ')}`;
  return [!server.gaps.some(({ isFelt }) => isFelt), `${version} ${why}`];
}

function isListed(about: Pick<Assessed, 'missing' | 'sources'>): boolean {
  return about.missing.length === 0 && forbiddenParts(about.sources).length === 0;
}

function whyListed({ missing, sources }: Pick<Assessed, 'missing' | 'sources'>): string {
  if (missing.length > 0) return `waiting for the initial list of ${missing.join(', ')}`;
  const forbidden = forbiddenParts(sources);
  if (forbidden.length === 0) return 'all initial lists received';
  return `not allowed to read ${forbidden.join(', ')}`;
}

/** `services of namespace shop`. */
function forbiddenParts(sources: readonly SourceHealth[]): readonly string[] {
  return sources.flatMap(({ kind, forbidden = [] }) =>
    forbidden.map((part) => `${kind === 'service' ? 'Services' : 'EndpointSlices'} of ${part}`),
  );
}

function whyFirstSync(about: Assessed): string {
  const { firstSyncAtMs, failure } = about;
  if (firstSyncAtMs !== undefined) return 'every row was written to the kernel once';
  return failure?.message ?? whyListed(about);
}

function synced(about: Assessed, say: Say): Condition {
  const { pendingCount, pendingSinceMs, firstSyncAtMs } = about;
  const isWaiting = pendingSinceMs.IPv4 !== undefined || pendingSinceMs.IPv6 !== undefined;
  if (isWaiting || pendingCount > 0)
    return say('synced', false, `${pendingCount} rows are not written to the kernel yet`);
  const isTrue = firstSyncAtMs !== undefined;
  return say(
    'synced',
    isTrue,
    isTrue ? 'every row is written to the kernel' : 'nothing was written yet',
  );
}

function timeliness(about: Assessed, family: Family): FamilyCondition {
  const { nowMs, startedAtMs, syncPeriodMs } = about;
  const oldestPendingAtMs = about.pendingSinceMs[family];
  const lastSyncedAtMs = about.lastSyncedAtMs[family];
  const times = {
    ...(oldestPendingAtMs === undefined ? {} : { oldestPendingAtMs }),
    ...(lastSyncedAtMs === undefined ? {} : { lastSyncedAtMs }),
  };
  const lateAtMs = (oldestPendingAtMs ?? nowMs) + 2 * syncPeriodMs;
  if (nowMs >= lateAtMs) {
    const age = seconds(nowMs - (oldestPendingAtMs ?? nowMs));
    return {
      isTrue: false,
      sinceMs: lateAtMs,
      why: `a change has been waiting for ${age}`,
      ...times,
    };
  }
  const why =
    oldestPendingAtMs === undefined ? 'no change is pending' : 'a change is being written';
  return { isTrue: true, sinceMs: lastSyncedAtMs ?? startedAtMs, why, ...times };
}

function disturbance({ lastDrift, nowMs, startedAtMs }: Assessed): Condition {
  if (lastDrift === undefined) {
    return { isTrue: true, sinceMs: startedAtMs, why: 'no external changes' };
  }
  const by = lastDrift.by ? ` by ${lastDrift.by.program} (${lastDrift.by.pid})` : '';
  const why = `${lastDrift.what}${by}`;
  const untilMs = lastDrift.atMs + DISTURBED_FOR_MS;
  if (nowMs >= untilMs)
    return { isTrue: true, sinceMs: untilMs, why: `last external change: ${why}` };
  return { isTrue: false, sinceMs: lastDrift.atMs, why };
}

function eligibility({ expectsNode, node }: Assessed): { isTrue: boolean; why: string } {
  if (!expectsNode) return { isTrue: true, why: 'this machine is not a node of the cluster' };
  if (node.state === 'unknown')
    return { isTrue: false, why: 'the Node object was not received yet' };
  if (node.state === 'deleted') return { isTrue: false, why: 'the Node object was deleted' };
  if (node.object.deleting) return { isTrue: false, why: 'the Node object is being deleted' };
  if (node.object.taintKeys.includes(AUTOSCALER_TAINT)) {
    return { isTrue: false, why: `the node has the taint ${AUTOSCALER_TAINT}` };
  }
  return { isTrue: true, why: 'the node is not being removed' };
}

function whyOf(failure: Failure | undefined, otherwise: string): string {
  return failure === undefined ? otherwise : `${failure.message} (${failure.code})`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
