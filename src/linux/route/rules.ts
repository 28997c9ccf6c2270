import { constants } from 'node:os';
import { NetlinkRefusal } from '../netlink/errors.ts';
import { dump } from '../netlink/exchange.ts';
import { openNetlink } from '../netlink/socket.ts';
import { NETLINK_ROUTE, rulesQuestion } from './protocol.ts';
import type { MachineRoute } from './route-codec.ts';
import { readTableRule, type TableRule } from './rule-codec.ts';

/** Tables that a kernel without policy routing looks up: default, main and local. */
const FIXED_TABLES = [253, 254, 255];
const { EOPNOTSUPP } = constants.errno;

/** The rules that apply to every packet of own sockets, unless marked. */
export async function listTableRules(): Promise<readonly TableRule[]> {
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  const rules: TableRule[] = [];
  let sequence = 0;
  for (const family of ['IPv4', 'IPv6'] as const) {
    try {
      await dump(netlink, rulesQuestion(family, ++sequence), (message) => {
        const rule = readTableRule(message);
        if (rule !== undefined) rules.push(rule);
      });
    } catch (error) {
      if (!(error instanceof NetlinkRefusal) || error.errno !== EOPNOTSUPP) throw error;
      const suppressedPrefixLength = undefined;
      rules.push(...FIXED_TABLES.map((table) => ({ family, table, suppressedPrefixLength })));
    }
  }
  return rules;
}

/** Whether packets of own sockets find the route, if no other comes first. */
export function isLookedUp(
  { family, table, to, isConditional }: MachineRoute,
  rules: readonly TableRule[],
): boolean {
  if (isConditional) return false;
  return rules.some((rule) => {
    if (rule.family !== family || rule.table !== table) return false;
    return to.prefixLength > (rule.suppressedPrefixLength ?? -1);
  });
}
