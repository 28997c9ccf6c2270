import { constants } from 'node:os';
import { NetlinkRejection } from '../netlink/netlink-error.ts';
import { dump } from '../netlink/netlink-exchange.ts';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { type NetlinkMessage, numberOf, readAttributes, textOf } from '../netlink/reader.ts';
import { change, FAMILIES } from './machine-routes.ts';
import {
  AF_INET,
  AF_INET6,
  type DumpQuestion,
  NETLINK_ROUTE,
  NLM_F_ACK,
  NLM_F_CREATE,
  NLM_F_EXCL,
  NLM_F_REQUEST,
  RTM_DELRULE,
  RTM_NEWRULE,
  RULE_FIXED_BYTES,
  rulesQuestion,
} from './route-protocol.ts';
import {
  FR_ACT_TO_TBL,
  FRA_FWMARK,
  FRA_FWMASK,
  FRA_IIFNAME,
  FRA_PRIORITY,
  FRA_PROTOCOL,
  FRA_TABLE,
} from './rule-codec.ts';

const { EEXIST, ENOENT, EOPNOTSUPP } = constants.errno;

/** Sends packets with these bits of the mark to a table: `ip rule … fwmark <mark>/<mark>`. */
export interface MarkRule {
  readonly family: 'IPv4' | 'IPv6';
  readonly mark: number;
  readonly priority: number;
  /** Less than 256. */
  readonly table: number;
  readonly protocol: number;
  /** Only packets that came in by this interface; those of own sockets came by `lo`. */
  readonly inInterface?: string;
}

/** Rejects with a NetlinkError; false: there is such a rule already. */
export async function addMarkRule(rule: MarkRule): Promise<boolean> {
  return await change(ruleRequest('add', rule), EEXIST);
}

/** Rejects with a NetlinkError; false: there is no such rule. */
export async function deleteMarkRule(rule: MarkRule): Promise<boolean> {
  return await change(ruleRequest('delete', rule), ENOENT);
}

/** How many rules have this protocol number, in both families. */
export async function countRules(protocol: number): Promise<number> {
  return (await listMarkRules(protocol)).length;
}

/** The rules with this protocol number, in both families; one with another shape has a mark of 0. */
export async function listMarkRules(protocol: number): Promise<readonly MarkRule[]> {
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  const rules: MarkRule[] = [];
  for (const [index, family] of FAMILIES.entries()) {
    try {
      await dump(netlink, rulesQuestion(family, index + 1), (message) => {
        const rule = readMarkRule(message);
        if (rule?.family === family && rule.protocol === protocol) rules.push(rule);
      });
    } catch (error) {
      // A kernel without policy routing has no rules.
      if (!(error instanceof NetlinkRejection) || error.errno !== EOPNOTSUPP) throw error;
    }
  }
  return rules;
}

/** Undefined: about something else than a routing rule. */
export function readMarkRule({ type, body }: NetlinkMessage): MarkRule | undefined {
  const isRule = type === RTM_NEWRULE || type === RTM_DELRULE;
  if (!isRule || body.length < RULE_FIXED_BYTES) return undefined;
  const attributes = readAttributes(body.subarray(RULE_FIXED_BYTES));
  const number = (attribute: number) => numberOf(attributes.get(attribute)) ?? 0;
  const mark = number(FRA_FWMARK);
  const inInterface = attributes.get(FRA_IIFNAME);
  return {
    family: body[0] === AF_INET ? 'IPv4' : 'IPv6',
    mark: number(FRA_FWMASK) === mark ? mark : 0,
    priority: number(FRA_PRIORITY),
    table: number(FRA_TABLE) || (body[4] ?? 0),
    protocol: attributes.get(FRA_PROTOCOL)?.[0] ?? 0,
    ...(inInterface ? { inInterface: textOf(inInterface) } : {}),
  };
}

function ruleRequest(verb: 'add' | 'delete', rule: MarkRule): DumpQuestion {
  const writer = new NetlinkWriter();
  const isNew = verb === 'add';
  const flags = NLM_F_REQUEST | NLM_F_ACK | (isNew ? NLM_F_CREATE | NLM_F_EXCL : 0);
  const type = isNew ? RTM_NEWRULE : RTM_DELRULE;
  const message = writer.beginMessage({ type, flags, sequence: 1 });
  const fixed = new Uint8Array(RULE_FIXED_BYTES);
  fixed[0] = rule.family === 'IPv4' ? AF_INET : AF_INET6;
  fixed[4] = rule.table;
  fixed[7] = FR_ACT_TO_TBL;
  writer.raw(fixed);
  writer.u32le(FRA_PRIORITY, rule.priority);
  writer.u32le(FRA_FWMARK, rule.mark);
  writer.u32le(FRA_FWMASK, rule.mark);
  writer.u32le(FRA_TABLE, rule.table);
  writer.u8(FRA_PROTOCOL, rule.protocol);
  if (rule.inInterface !== undefined) writer.text(FRA_IIFNAME, rule.inInterface);
  writer.endMessage(message);
  return { bytes: writer.bytes, what: `${verb} a routing rule` };
}
