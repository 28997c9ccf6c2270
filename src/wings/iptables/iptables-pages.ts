import type { Desired } from '../../dataplanes/contract.ts';
import { type Forwarding, servicePortKey } from '../../forwarding/model.ts';
import type { Page, PageChain } from '../../modes/pages/page.ts';
import { USUAL_ABILITIES } from './plane/render.ts';
import { ruleSentence } from './plane/sentences.ts';
import { type ChainVisit, type FrontendWalk, walkRow, wayOf } from './plane/walk.ts';

/** The chains of a Service in the order in which a packet meets them. */
export function iptablesPages(
  { facts, rows }: Desired,
  isWanted: (row: Forwarding) => boolean,
): Page[] {
  const setting = { facts, abilities: USUAL_ABILITIES };
  return rows.filter(isWanted).map((row) => {
    const walks = walkRow(row, setting);
    return {
      key: servicePortKey(row.id),
      table: row.id.family === 'IPv4' ? 'iptables' : 'ip6tables',
      forwarding: row,
      frontends: walks.map(({ frontend, visits }) => ({ frontend, path: wayOf(visits) })),
      chains: chainsOf(walks),
    };
  });
}

/** Each chain once, with the rules that concern any of the frontends, hook by hook. */
function chainsOf(walks: readonly FrontendWalk[]): PageChain[] {
  const visits = new Map<string, ChainVisit>();
  for (const visit of walks.flatMap((walk) => walk.visits)) {
    const known = visits.get(nameOf(visit));
    const rules = [...new Set([...(known?.rules ?? []), ...visit.rules])];
    visits.set(nameOf(visit), { ...visit, rules: known ? inOrder(rules, visit.rules) : rules });
  }
  const all = [...visits.values()].sort((a, b) => a.stage - b.stage);
  return all.map((visit) => ({
    name: nameOf(visit),
    rules: visit.rules.map((rule) => ({
      text: `-A ${visit.name} ${rule}`,
      does: ruleSentence(rule),
    })),
  }));
}

/** Frontends have rules of their own in front of those that all share: the shared ones stay last. */
function inOrder(all: readonly string[], latest: readonly string[]): readonly string[] {
  const shared = all.filter((rule) => latest.includes(rule));
  return [...all.filter((rule) => !shared.includes(rule)), ...shared];
}

function nameOf({ table, name }: ChainVisit): string {
  return `${table} ${name}`;
}
