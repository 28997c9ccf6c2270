import { readWords, SAID, type Words } from '../../../dataplanes/shared/words.ts';
import type { RuleText } from './rule.ts';

interface Teller {
  readonly pattern: RegExp;
  readonly tell: (found: readonly string[]) => Words;
}

const when =
  (words: (...found: string[]) => string) =>
  ([, ...found]: readonly string[]): Words => ({ when: words(...found) });
const does =
  (words: (...found: string[]) => string) =>
  ([, ...found]: readonly string[]): Words => ({ does: words(...found) });

/**
 * The meaning of each part of our rules. A rule is read part by part; the kernel ignores comments.
 */
const TELLERS: readonly Teller[] = [
  // Address, protocol and port are one thing to a person, whatever stands in between.
  {
    pattern: /^-d (\S+) -p (\S+)(?: -m comment --comment "[^"]*")? -m \w+ --dport (\d+)/,
    tell: when(
      (range, protocol, port) =>
        `it is for ${addressText(range)}, port ${port}/${protocol.toUpperCase()}`,
    ),
  },
  {
    pattern: /^-p (\S+)(?: -m comment --comment "[^"]*")? -m \w+ --dport (\d+)/,
    tell: when((protocol, port) => `it is for port ${port}/${protocol.toUpperCase()}`),
  },
  {
    pattern:
      /^-p (\S+)(?: -m comment --comment "[^"]*")? -m addrtype --dst-type LOCAL -m \w+ --dport (\d+)/,
    tell: when(
      (protocol, port) =>
        `it is for an address of this node, port ${port}/${protocol.toUpperCase()}`,
    ),
  },
  {
    pattern: /^! -s (\S+)/,
    tell: when((range) => `it does not come from ${addressText(range)}`),
  },
  { pattern: /^-s (\S+)/, tell: when((range) => `it comes from ${addressText(range)}`) },
  { pattern: /^! -d (\S+)/, tell: when((range) => `it is not for ${range}`) },
  { pattern: /^-d (\S+)/, tell: when((range) => `it is for ${addressText(range)}`) },
  { pattern: /^! -i (\S+)/, tell: when((name) => `it did not come in through ${name}`) },
  { pattern: /^-i (\S+)/, tell: when((name) => `it came in through ${name}`) },
  { pattern: /^-p (\S+)/, tell: when((name) => `it is ${name.toUpperCase()}`) },
  { pattern: /^-m \w+ --dport (\d+)/, tell: when((port) => `it is for port ${port}`) },
  {
    pattern: /^-m addrtype --dst-type LOCAL/,
    tell: when(() => SAID.isForNode),
  },
  {
    pattern: /^-m addrtype --src-type LOCAL/,
    tell: when(() => SAID.comesFromNode),
  },
  {
    pattern: /^-m mark ! --mark \S+/,
    tell: when(() => 'it is not marked for masquerading'),
  },
  { pattern: /^-m mark --mark \S+/, tell: when(() => SAID.isMarked) },
  { pattern: /^-m conntrack --ctstate NEW/, tell: when(() => SAID.beginsConnection) },
  {
    pattern: /^-m conntrack --ctstate INVALID/,
    tell: when(() => 'conntrack considers it invalid'),
  },
  {
    pattern: /^-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT/,
    tell: when(() => 'it neither belongs to an established connection nor was translated'),
  },
  {
    pattern: /^-m conntrack --ctstate RELATED,ESTABLISHED/,
    tell: when(() => 'it belongs to an established connection'),
  },
  {
    pattern: /^-m recent --rcheck --seconds (\d+) --reap --name \S+ --mask \S+ --rsource/,
    tell: when((seconds) => `its client was sent there in the last ${seconds} s`),
  },
  {
    pattern: /^-m recent --set --name \S+ --mask \S+ --rsource/,
    tell: does(() => 'records its client for session affinity'),
  },
  {
    pattern: /^-m statistic --mode random --probability (\S+)/,
    tell: when((share) => `a random draw selects it (${percent(share)})`),
  },
  { pattern: /^-m nfacct --nfacct-name (\S+)/, tell: does((name) => `counts it in ${name}`) },
  {
    pattern: /^-m comment --comment "\S+ -> (\S+)"(?= .*-j KUBE-SEP-)/,
    tell: does((endpoint) => `takes endpoint ${endpoint}`),
  },
  { pattern: /^-j (KUBE-SEP-\S+)/, tell: does((chain) => `goes on in ${chain}`) },
  { pattern: /^-j KUBE-MARK-MASQ$/, tell: does(() => SAID.marks) },
  {
    pattern: /^-j MASQUERADE.*/,
    tell: does(() => SAID.masquerades),
  },
  { pattern: /^-j MARK --set-xmark \S+\/0x0/, tell: does(() => SAID.clearsMark) },
  { pattern: /^-j MARK --set-xmark \S+/, tell: does(() => 'sets the mark') },
  { pattern: /^-j DNAT --to-destination (\S+)/, tell: does((to) => `sends it to ${to}`) },
  { pattern: /^-j REJECT.*/, tell: does(() => SAID.rejectsByIcmp) },
  { pattern: /^-j DROP/, tell: does(() => 'drops it without a reply') },
  { pattern: /^-j ACCEPT/, tell: does(() => 'lets it through') },
  { pattern: /^-j RETURN/, tell: does(() => 'leaves it as it is') },
  { pattern: /^-j (\S+)/, tell: does((chain) => `goes on in ${chain}`) },
];

const SILENT = /^(-m comment --comment "[^"]*"|-m (tcp|udp|sctp)) ?/;

/** The effect of a rule on a packet, in a sentence without its full stop. */
export function ruleSentence(rule: RuleText): string {
  const { clauses } = readRule(rule);
  const { head, actions } = readWords(clauses);
  const does = actions.join(' and ');
  return `${head}${does || 'does nothing: the packet continues untranslated'}`;
}

/**
 * Part by part. Parts that match no pattern are listed as `unknown`; the rule itself is shown
 * beside.
 */
export function readRule(rule: RuleText): { clauses: Words[]; unknown: string[] } {
  const clauses: Words[] = [];
  const unknown: string[] = [];
  for (let rest: string = rule; rest !== ''; ) {
    const { clause, text } = nextPart(rest);
    if (clause) clauses.push(clause);
    else if (!SILENT.test(text)) unknown.push(text);
    rest = rest.slice(text.length).trimStart();
  }
  return { clauses, unknown };
}

function nextPart(rest: string): { clause?: Words; text: string } {
  for (const { pattern, tell } of TELLERS) {
    const found = pattern.exec(rest);
    if (found) return { clause: tell(found), text: found[0] };
  }
  return { text: SILENT.exec(rest)?.[0] ?? rest.slice(0, Math.max(1, rest.search(/ |$/))) };
}

function addressText(range: string): string {
  return range.replace(/\/(32|128)$/, '');
}

function percent(share: string): string {
  return `${Number((Number(share) * 100).toFixed(1))} %`;
}
