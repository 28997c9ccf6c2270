import type { Family } from '../../../forwarding/model.ts';
import type { ProbeRule } from '../../../linux/iptables/nft-probe.ts';
import {
  comment,
  destinationPort,
  oneOf,
  protocolMatch,
  remember,
  ruleText,
  single,
  wasRecently,
} from './rule.ts';

const LIST = 'FAIRLEAD-PROBE';
const SECONDS = 10_800;
const MARK = '0x4000/0x4000';
const ADDRESS = { IPv4: '192.0.2.1', IPv6: '2001:db8::1' } as const;
const REJECTION = { IPv4: 'icmp-port-unreachable', IPv6: 'icmp6-port-unreachable' } as const;

/** One of every match and target that rules of rows and fixed parts are made of. */
export function probeRulesOf(family: Family): readonly ProbeRule[] {
  const address = ADDRESS[family];
  const to = family === 'IPv4' ? `${address}:80` : `[${address}]:80`;
  const about = comment('a rule that is never there');
  const conditions = [
    '-m addrtype --src-type LOCAL',
    `-m mark ! --mark ${MARK}`,
    oneOf(3),
    wasRecently(LIST, SECONDS, family),
  ];
  return [
    {
      table: 'nat',
      rule: ruleText({
        source: `! ${single(address, family)}`,
        inInterface: 'lo',
        protocol: 'TCP',
        matches: [about, destinationPort('TCP', 80)],
        jump: `MARK --set-xmark ${MARK}`,
      }),
    },
    { table: 'nat', rule: ruleText({ matches: conditions, jump: 'RETURN' }) },
    {
      table: 'nat',
      rule: ruleText({
        protocol: 'UDP',
        matches: [remember(LIST, family), protocolMatch('UDP')],
        jump: `DNAT --to-destination ${to}`,
      }),
    },
    { table: 'nat', rule: ruleText({ jump: 'MASQUERADE --random-fully' }) },
    {
      table: 'filter',
      rule: ruleText({
        matches: ['-m conntrack --ctstate NEW'],
        jump: `REJECT --reject-with ${REJECTION[family]}`,
      }),
    },
  ];
}
