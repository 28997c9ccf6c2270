import type { Family, Protocol } from '../../../forwarding/model.ts';

/**
 * A rule as `iptables-save` prints it, without `-A CHAIN`. Rules are written, read back and shown
 * as the same text, so that two rules are equal when their texts are.
 */
export type RuleText = string;

export interface RuleParts {
  /** Ranges, with `! ` in front where they must not hold the address. */
  readonly source?: string;
  readonly destination?: string;
  readonly inInterface?: string;
  readonly protocol?: Protocol;
  /** In the order in which they are asked. */
  readonly matches?: readonly string[];
  /** A chain or a target with its options; without one the rule only counts. */
  readonly jump?: string;
}

export function ruleText(parts: RuleParts): RuleText {
  return [
    option('-s', parts.source),
    option('-d', parts.destination),
    option('-i', parts.inInterface),
    parts.protocol === undefined ? undefined : `-p ${parts.protocol.toLowerCase()}`,
    ...(parts.matches ?? []),
    parts.jump === undefined ? undefined : `-j ${parts.jump}`,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}

function option(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  return value.startsWith('! ') ? `! ${name} ${value.slice(2)}` : `${name} ${value}`;
}

export function comment(text: string): string {
  return `-m comment --comment "${text}"`;
}

export function destinationPort(protocol: Protocol, port: number): string {
  return `${protocolMatch(protocol)} --dport ${port}`;
}

export function protocolMatch(protocol: Protocol): string {
  return `-m ${protocol.toLowerCase()}`;
}

/** An address as a range of one. */
export function single(address: string, family: Family): string {
  return `${address}/${family === 'IPv4' ? 32 : 128}`;
}

const PROBABILITY_STEPS = 2 ** 31;
/**
 * The value that upstream passes to iptables; the kernel's rounding is printed with one digit more.
 */
const GIVEN_DIGITS = 10;
const PRINTED_DIGITS = 11;

/** One of `count`. The kernel keeps a multiple of 2^-31, which is the value that is printed. */
export function oneOf(count: number): string {
  const given = Number((1 / count).toFixed(GIVEN_DIGITS));
  const kept = Math.round(given * PROBABILITY_STEPS) / PROBABILITY_STEPS;
  return `-m statistic --mode random --probability ${kept.toFixed(PRINTED_DIGITS)}`;
}

const FULL_MASK: Readonly<Record<Family, string>> = {
  IPv4: '255.255.255.255',
  IPv6: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
};

/** Whether the client was sent to the endpoint in the last so many seconds. */
export function wasRecently(chain: string, seconds: number, family: Family): string {
  const mask = `--mask ${FULL_MASK[family]} --rsource`;
  return `-m recent --rcheck --seconds ${seconds} --reap --name ${chain} ${mask}`;
}

export function remember(chain: string, family: Family): string {
  return `-m recent --set --name ${chain} --mask ${FULL_MASK[family]} --rsource`;
}

/** The chain or target that a rule leads to. */
export function targetOf(rule: RuleText): string | undefined {
  const at = rule.lastIndexOf('-j ');
  if (at === -1 || (at > 0 && rule[at - 1] !== ' ')) return undefined;
  const from = at + 3;
  const end = rule.indexOf(' ', from);
  return end === -1 ? rule.slice(from) : rule.slice(from, end);
}
