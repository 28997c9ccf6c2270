import { type Condition, type Conditions, readyz } from '../../agent/conditions.ts';
import { conflictText } from '../../agent/node-port-conflicts.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import type { Kind } from '../../cluster/object-kinds.ts';
import { serverText } from '../../cluster/server-report.ts';
import type { Drift } from '../../dataplanes/contract.ts';
import { attachmentWords } from '../../modes/attachment-words.ts';
import type { StatusWords, Trouble } from '../../modes/status-words.ts';
import { ageText, countText } from './status-texts.ts';

const SHOWN = 3;
/** Not every cluster has them, or lets a proxy read them. */
const OPTIONAL: readonly Kind[] = ['serviceCidr', 'namespace'];
const LOG = "the log of `fairlead run` shows the API server's response";

/** All problems; those that make the node not ready come first. `words`: those of its mode. */
export function troublesOf(page: StatusPage, words?: StatusWords): readonly Trouble[] {
  return [
    ...notReady(page),
    ...machine(page),
    ...(words?.troubles(page) ?? []),
    ...detached(page),
    ...rejectedRows(page),
    ...apiServer(page),
    ...addresses(page),
    ...external(page, words),
    ...others(page.conditions),
    ...restart(page),
  ];
}

function machine({ machine: found = [] }: StatusPage): Trouble[] {
  return found.map(({ what, next = 'fairlead doctor' }) => ({ what, next }));
}

function restart({ awaitsRestart = [] }: StatusPage): Trouble[] {
  if (awaitsRestart.length === 0) return [];
  const what = `the configuration file changed in ${listed(awaitsRestart)}: in force after a restart`;
  const next = 'restart the pod of fairlead, or systemctl restart fairlead';
  return [{ what, next }];
}

function notReady({ conditions }: StatusPage): Trouble[] {
  const { failing } = readyz(conditions);
  const troubles: Trouble[] = [];
  if (failing.includes('firstSync')) {
    const { listed, firstSync } = conditions;
    troubles.push(
      listed.isTrue
        ? {
            what: `not every Service has been written to the kernel since the start: ${firstSync.why}`,
            next: 'wait if it has just started; else see the failed writes below',
          }
        : {
            what: `the initial lists from the API server are incomplete: ${listed.why}`,
            next: 'wait if it has just started; else check that the API server is reachable and that this account may list and watch',
          },
    );
  }
  if (failing.includes('listed')) {
    const what = `a part of fairlead.scope cannot be read: ${conditions.listed.why}`;
    const next = `grant list and watch to this account, or remove it from the scope; ${LOG}`;
    troubles.push({ what, next });
  }
  for (const family of ['IPv4', 'IPv6'] as const) {
    if (!failing.includes(`timely.${family}`)) continue;
    const what = `${family} changes do not reach the kernel: ${conditions.timely[family].why}`;
    const next = 'see the failed writes below; if there are none, restart fairlead';
    troubles.push({ what, next });
  }
  return troubles;
}

/** What leads packets to the rows and is not in the kernel; after a fallback no hook does. */
export function detachedNames({ attachments = [], fallback }: StatusPage): readonly string[] {
  const missing = attachments.filter(({ isAttached, place }) => {
    const { noun, isHook } = attachmentWords(place);
    // What has no noun has problems of its own.
    return !isAttached && noun !== undefined && !(fallback && isHook);
  });
  return missing.map(({ place, name }) => `${attachmentWords(place).one} ${name}`);
}

function detached(page: StatusPage): Trouble[] {
  const { attachmentsFailure, fallback } = page;
  if (attachmentsFailure) {
    const { message, next } = attachmentsFailure;
    return [{ what: `cannot read what is attached in the kernel: ${message}`, next }];
  }
  const troubles: Trouble[] = [];
  if (fallback) {
    const { from, to, message, next } = fallback;
    troubles.push({ what: `${from} cannot be used, ${to} forwards everything: ${message}`, next });
  }
  const names = detachedNames(page);
  if (names.length > 0) {
    const next = 'repaired automatically within seconds; if not, see the log';
    troubles.push({ what: `not in the kernel: ${listed(names)}`, next });
  }
  return troubles;
}

function rejectedRows(page: StatusPage): Trouble[] {
  const { failingRows, failingRowCount, atMs, conditions } = page;
  const shown = failingRows.slice(0, SHOWN).map(({ key, attempts, firstFailedAtMs, error }) => {
    const tried = `tried ${countText(attempts, 'time')} in ${ageText(atMs - firstFailedAtMs)}`;
    return { what: `${key} is not in the kernel (${tried}): ${error.message}`, next: error.next };
  });
  const more = failingRowCount - shown.length;
  if (more > 0) {
    const what = `${countText(more, 'more service port')} not in the kernel`;
    shown.push({ what, next: 'fairlead status -v' });
  }
  if (shown.length > 0 || conditions.errorFree.isTrue) return shown;
  const next = 'retried automatically; the log has every attempt';
  return [{ what: `the last write failed: ${conditions.errorFree.why}`, next }];
}

function apiServer({ conditions, apiServer: server, sources }: StatusPage): Trouble[] {
  const { apiFresh, connected, listed: isListed } = conditions;
  const troubles: Trouble[] = [];
  const silent = sources.filter(({ connected: is, kind }) => !is && !OPTIONAL.includes(kind));
  const isOnlyForbidden = silent.length > 0 && silent.every(({ forbidden }) => forbidden);
  if (!apiFresh.isTrue && !isOnlyForbidden) {
    const error = sources.find(({ lastError }) => lastError !== undefined)?.lastError;
    const why = error === undefined ? '' : ` (${error})`;
    const what = `no watch to the API server: ${apiFresh.why}${why}`;
    troubles.push({ what, next: `check that it runs and that this node reaches it; ${LOG}` });
  } else if (isListed.isTrue) {
    for (const kind of OPTIONAL) {
      const { isTrue, why } = connected[kind];
      const isAbsent = sources.some((each) => each.kind === kind && each.absent !== undefined);
      if (!isTrue && !isAbsent) {
        troubles.push({ what: `the watch of ${kind} is not established: ${why}`, next: LOG });
      }
    }
  }
  for (const { feature, reason, effect, isFelt } of server?.gaps ?? []) {
    if (!isFelt || server === undefined) continue;
    const what = `${serverText(server)}: no ${feature} (${reason}): ${effect}`;
    const isUnknownRange = feature === 'ServiceCIDR' && reason === 'forbidden';
    const bind = 'bind the account of fairlead to the ClusterRole system:node-proxier';
    const next =
      reason === 'forbidden'
        ? `${bind}${isUnknownRange ? ', or set fairlead.serviceRanges' : ''}`
        : 'upgrade the API server, or accept it: docs/version-skew.md';
    troubles.push({ what, next });
  }
  return troubles;
}

const OTHER_ADDRESS = 'give the Service another address, or set fairlead.addressRules: kube-proxy';
const OTHER_RANGES =
  'if the cluster may have this address, add its range to fairlead.serviceRanges; `fairlead outside check` lists the ranges';

function addresses({ notServed, addresses: report }: StatusPage): Trouble[] {
  const count = Object.values(report.notServed).reduce((sum, each) => sum + each, 0);
  const troubles = notServed.slice(0, SHOWN).map(({ service, address, reason, why }) => ({
    what: `${address} of ${service} is not served: ${why}`,
    next: reason === 'outside-ranges' ? OTHER_RANGES : OTHER_ADDRESS,
  }));
  if (count > troubles.length && troubles.length > 0) {
    const what = `${countText(count - troubles.length, 'more address', 'more addresses')} not served`;
    troubles.push({ what, next: 'fairlead status -v' });
  }
  for (const conflict of report.conflicts.slice(0, SHOWN)) {
    const what = `${conflictText(conflict)}: clients of that process reach the Service instead`;
    troubles.push({ what, next: 'move the process to another port, or choose another node port' });
  }
  return troubles;
}

/** The process that has changed our objects of late; undefined: none. */
export function disturberOf({ conditions, drifts }: StatusPage): string | undefined {
  const last = drifts.findLast(({ isOwn }) => !isOwn);
  if (conditions.undisturbed.isTrue || last === undefined) return undefined;
  return nameOf(last);
}

function nameOf({ by }: Drift): string {
  return by ? `${by.program} (pid ${by.pid})` : 'another process';
}

/** What is repaired is told by `fairlead history`, unless it comes again and again. */
function external(page: StatusPage, words: StatusWords | undefined): Trouble[] {
  const { drifts, fallback, atMs } = page;
  const last = drifts.at(-1);
  if (last === undefined) return [];
  const times = recentTimes(page);
  if (!last.isOwn && times >= OFTEN) {
    return [
      {
        what: `${nameOf(last)} keeps changing objects of fairlead, ${times} times in the last minute: ${last.what}`,
        next: 'each is repaired automatically; stop that program from changing them again',
      },
    ];
  }
  if (fallback || isRepaired(page, last)) return [];
  const ago = `${ageText(atMs - last.atMs)} ago`;
  if (last.isOwn) {
    if (words?.tellsOwnDrift?.(page)) return [];
    const next = 'repaired automatically; the log has the reason';
    return [{ what: `${ago}: ${last.what}`, next }];
  }
  return [
    {
      what: `${nameOf(last)} changed objects of fairlead ${ago}: ${last.what}`,
      next: 'repaired automatically; stop that program from changing them again',
    },
  ];
}

const OFTEN = 3;
const RECENT_MS = 60_000;
/** One command of another process can be several events. */
const ONE_CHANGE_MS = 1_000;

/** How often other processes changed our objects in the last minute. */
function recentTimes({ drifts, atMs }: StatusPage): number {
  const recent = drifts.filter((each) => !each.isOwn && atMs - each.atMs <= RECENT_MS);
  const starts = recent.filter(
    (each, index) => each.atMs - (recent[index - 1]?.atMs ?? 0) > ONE_CHANGE_MS,
  );
  return starts.length;
}

/** The kernel was inspected since, and has every row. */
function isRepaired({ lastInspection, conditions }: StatusPage, drift: { atMs: number }): boolean {
  if (lastInspection === undefined || !conditions.synced.isTrue) return false;
  return lastInspection.atMs - lastInspection.durationMs >= drift.atMs;
}

/** Conditions whose reason is the whole description. */
const OTHERS: readonly (readonly [keyof Conditions, string, string])[] = [
  ['watching', 'external changes are not detected', 'retried automatically; see the log'],
  ['unpaced', 'changes are delayed', 'no action needed; see docs/limits.md'],
  ['affinityRoom', 'session affinity', 'see docs/limits.md for what happens to new clients'],
  [
    'nodeEligible',
    'load balancer health checks fail',
    'no action needed if the node is being removed',
  ],
];

function others(conditions: Conditions): Trouble[] {
  return OTHERS.flatMap(([name, subject, next]) => {
    const { isTrue, why } = conditions[name] as Condition;
    return isTrue ? [] : [{ what: `${subject}: ${why}`, next }];
  });
}

function listed(names: readonly string[]): string {
  const more = names.length - SHOWN;
  if (more <= 0) return names.join(', ');
  return `${names.slice(0, SHOWN).join(', ')} and ${more} more`;
}
