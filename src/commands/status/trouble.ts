import { type Condition, type Conditions, readyz } from '../../agent/conditions.ts';
import { conflictText } from '../../agent/node-port-conflicts.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import { serverText } from '../../cluster/server-report.ts';
import { ageText, countText } from './words.ts';

/** One thing that is not as it should be, and what a person can do about it. */
export interface Trouble {
  readonly what: string;
  readonly next: string;
}

const SHOWN = 3;
const LOG = "the log of `fairlead run` has the API server's answer";

/** Everything that is amiss; what keeps the node from being ready comes first. */
export function troublesOf(page: StatusPage): readonly Trouble[] {
  return [
    ...notReady(page),
    ...detached(page),
    ...refusedRows(page),
    ...apiServer(page),
    ...addresses(page),
    ...external(page),
    ...others(page.conditions),
  ];
}

function notReady({ conditions }: StatusPage): Trouble[] {
  const { failing } = readyz(conditions);
  const troubles: Trouble[] = [];
  if (failing.includes('firstSync')) {
    const { listed, firstSync } = conditions;
    troubles.push(
      listed.isTrue
        ? {
            what: `the kernel has never had every Service since the start: ${firstSync.why}`,
            next: 'nothing, if it has just started; else the refusals below say why',
          }
        : {
            what: `the API server has not told everything yet: ${listed.why}`,
            next: 'nothing, if it has just started; else is the API server reachable, and may this account list and watch?',
          },
    );
  }
  for (const family of ['IPv4', 'IPv6'] as const) {
    if (!failing.includes(`timely.${family}`)) continue;
    const what = `the kernel does not follow for ${family}: ${conditions.timely[family].why}`;
    const next = 'the refusals below say why; if there are none, restart fairlead';
    troubles.push({ what, next });
  }
  return troubles;
}

function detached({ attachments = [], attachmentsFailure }: StatusPage): Trouble[] {
  if (attachmentsFailure) {
    const { message, next } = attachmentsFailure;
    return [{ what: `what is attached in the kernel cannot be read: ${message}`, next }];
  }
  const missing = attachments.filter(({ isAttached }) => !isAttached);
  const names = missing.map(({ place, name }) => {
    if (place === 'cgroup') return `socket hook ${name}`;
    if (place === 'tc') return `the program of interface ${name}`;
    return place === 'nftables' ? `nftables ${name}` : `the jump from ${name}`;
  });
  if (names.length === 0) return [];
  const what = `not in the kernel: ${listed(names)}`;
  const next = 'it is put back within seconds; if not, the log says why the kernel refuses it';
  return [{ what, next }];
}

function refusedRows(page: StatusPage): Trouble[] {
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
  const next = 'it is tried again; the log has every attempt';
  return [{ what: `the last write failed: ${conditions.errorFree.why}`, next }];
}

function apiServer({ conditions, apiServer: server, sources }: StatusPage): Trouble[] {
  const { apiFresh, connected, listed: isListed } = conditions;
  const troubles: Trouble[] = [];
  if (!apiFresh.isTrue) {
    const error = sources.find(({ lastError }) => lastError !== undefined)?.lastError;
    const why = error === undefined ? '' : ` (${error})`;
    const what = `the API server is not heard: ${apiFresh.why}${why}`;
    troubles.push({ what, next: `is it running, and does this node reach it? ${LOG}` });
  } else if (isListed.isTrue) {
    for (const kind of ['serviceCidr', 'namespace'] as const) {
      const { isTrue, why } = connected[kind];
      const isAbsent = sources.some((each) => each.kind === kind && each.absent !== undefined);
      if (!isTrue && !isAbsent) {
        troubles.push({ what: `the watch of ${kind} does not stand: ${why}`, next: LOG });
      }
    }
  }
  for (const { feature, reason, effect, isFelt } of server?.gaps ?? []) {
    if (!isFelt || server === undefined) continue;
    const what = `${serverText(server)}: no ${feature} (${reason}): ${effect}`;
    const next =
      reason === 'forbidden'
        ? 'give the account of fairlead the role system:node-proxier'
        : 'nothing, until the API server is upgraded: docs/version-skew.md';
    troubles.push({ what, next });
  }
  return troubles;
}

function addresses({ notServed, addresses: report }: StatusPage): Trouble[] {
  const count = Object.values(report.notServed).reduce((sum, each) => sum + each, 0);
  const troubles = notServed.slice(0, SHOWN).map(({ service, address, why }) => ({
    what: `${address} of ${service} is not served: ${why}`,
    next: 'give the Service another address, or set fairlead.addressRules: kube-proxy',
  }));
  if (count > troubles.length && troubles.length > 0) {
    const what = `${countText(count - troubles.length, 'more address', 'more addresses')} not served`;
    troubles.push({ what, next: 'fairlead status -v' });
  }
  for (const conflict of report.conflicts.slice(0, SHOWN)) {
    const what = `${conflictText(conflict)}, whose clients reach the Service instead`;
    troubles.push({ what, next: 'let the process listen elsewhere, or choose another node port' });
  }
  return troubles;
}

function external({ conditions, drifts, atMs }: StatusPage): Trouble[] {
  const last = drifts.at(-1);
  if (conditions.undisturbed.isTrue || last === undefined) return [];
  const by = last.by ? `${last.by.program} (pid ${last.by.pid})` : 'another process';
  return [
    {
      what: `${by} changed what is fairlead's ${ageText(atMs - last.atMs)} ago: ${last.what}`,
      next: 'it is repaired; stop that program from doing it again',
    },
  ];
}

/** Those that say everything themselves. */
const OTHERS: readonly (readonly [keyof Conditions, string, string])[] = [
  ['watching', 'external changes are not seen', 'it is tried again; the log says why it fails'],
  ['unpaced', 'changes wait', 'nothing: docs/limits.md says what is written at its own pace'],
  ['affinityRoom', 'session affinity', 'docs/limits.md says what happens to new clients'],
  ['nodeEligible', 'load balancers are told to leave', 'nothing, if the node is to go'],
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
