import { isDeepStrictEqual } from 'node:util';
import type { PodDetection } from '../../../forwarding/answer/place.ts';
import type { Family } from '../../../forwarding/model.ts';
import { FIREWALL, isRowChain, NODE_PORTS, SERVICES } from './chain-names.ts';
import { inSteps } from './chain-steps.ts';
import { isNodePortJump } from './iptables-comparison.ts';
import { firewallRules, fixedChains, nodePortJumps } from './iptables-fixed-parts.ts';
import { equalRules } from './iptables-transaction.ts';
import type { KernelView } from './kernel-view.ts';
import {
  repairJumps,
  replaceLastRules,
  type TableChanges,
  tableChanges,
} from './repair-iptables.ts';
import { type RuleText, ruleText } from './rule.ts';
import { LOCALHOST_ACCOUNT, LOOPBACK, podMatch, type Setting } from './setting.ts';
import type { TableChange } from './table-change.ts';

/** Rewrites the rules that differ, and nothing else. */
export function reconfigure(change: {
  readonly family: Family;
  readonly before: Setting;
  readonly after: Setting;
  readonly read: KernelView;
}): readonly TableChange[] {
  const { family, before, after, read } = change;
  const changes = tableChanges();
  for (const { table, name, rules } of fixedChains(after)) {
    if (!equalRules(read[table].get(name), rules)) changes[table].fill(name, rules);
  }
  for (const rule of firewallRules(after, family)) {
    if (!read.filter.get(FIREWALL)?.includes(rule)) changes.filter.append(FIREWALL, rule);
  }
  const [oldClients, newClients] = [before, after].map(({ facts }) => facts.clientInterfaces);
  if (!isDeepStrictEqual(oldClients, newClients)) repairJumps(changes, read, after);
  if (family === 'IPv4') countLocalhost(changes, read, { before, after });
  const found = (read.nat.get(SERVICES) ?? []).filter((rule) =>
    isNodePortJump('nat', SERVICES, rule),
  );
  const wanted = nodePortJumps(after, family);
  if (!equalRules(found, wanted)) replaceLastRules(changes.nat, found, wanted);
  const old = before.facts.podDetection[family];
  const now = after.facts.podDetection[family];
  const detection = old && !isSame(old, now) ? replaceDetection(read, { old, now }) : [];
  return [changes.filter, changes.nat, ...detection];
}

/** A node port on loopback has a rule of its own, where it can be counted. */
function countLocalhost(
  changes: TableChanges,
  read: KernelView,
  { before, after }: { before: Setting; after: Setting },
): void {
  const isServed = after.facts.nodePortsOnLocalhost === true;
  const wasServed = before.facts.nodePortsOnLocalhost === true;
  if (isServed === wasServed || !after.abilities.hasAccounts) return;
  const all = read.nat.get(NODE_PORTS) ?? [];
  const plain = all.filter((rule) => !rule.includes(LOCALHOST_ACCOUNT));
  const rules = isServed ? plain.flatMap((rule) => [counted(rule), rule]) : plain;
  changes.nat.fill(NODE_PORTS, rules);
}

function counted(rule: RuleText): RuleText {
  const target = rule.lastIndexOf(' -j ');
  const match = ` -m nfacct --nfacct-name ${LOCALHOST_ACCOUNT}`;
  return `-d ${LOOPBACK} ${rule.slice(0, target)}${match}${rule.slice(target)}`;
}

/** Rows stay the same, but their chains detect pods of this node in another way. */
function replaceDetection(
  read: KernelView,
  detection: { old: PodDetection; now: PodDetection | undefined },
): readonly TableChange[] {
  const replace = detectionReplacer(detection);
  const chains = [...read.nat].flatMap(([name, rules]) => {
    if (!isRowChain(name)) return [];
    const replaced = rules.flatMap(replace);
    return equalRules(rules, replaced) ? [] : [{ name, rules: replaced }];
  });
  return inSteps(chains, (change, { name, rules }) => change.fill(name, rules));
}

/**
 * Only two rules match it: a source, or an interface after source and destination. A source of an
 * endpoint or a range of a load balancer is never negated and never has this comment.
 */
function detectionReplacer(detection: {
  old: PodDetection;
  now: PodDetection | undefined;
}): (rule: RuleText) => RuleText[] {
  const old = { pod: textOf(detection.old, true), others: textOf(detection.old, false) };
  const now = detection.now && {
    pod: textOf(detection.now, true),
    others: textOf(detection.now, false),
  };
  return (rule) => {
    const isOthers = rule.includes(old.others) && rule.includes(' cluster IP" ');
    const isPod = !isOthers && rule.startsWith(old.pod) && rule.includes('"pod traffic for ');
    if (!isOthers && !isPod) return [rule];
    if (!now) return [];
    return [moved(rule, isPod ? old.pod : old.others, isPod ? now.pod : now.others)];
  };
}

/** Sources are printed first, interfaces after the destination. */
function moved(rule: RuleText, old: string, now: string): RuleText {
  const without = rule.replace(`${old} `, '');
  if (now.includes('-s ')) return `${now} ${without}`;
  const destination = /^(-d \S+ )?/.exec(without)?.[0] ?? '';
  return `${destination}${now} ${without.slice(destination.length)}`;
}

function textOf(by: PodDetection, isPod: boolean): string {
  return ruleText(podMatch(by, isPod));
}

function isSame(a: PodDetection, b: PodDetection | undefined): boolean {
  return b !== undefined && textOf(a, true) === textOf(b, true);
}
