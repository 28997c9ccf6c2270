import type { NodeFacts } from '../../../../dataplanes/contract.ts';
import {
  cameBy,
  clearMark,
  goOn,
  IS_FOR_THIS_NODE,
  IS_FROM_THIS_NODE,
  isHairpin,
  isMarked,
  isPod,
  MASQUERADE,
  RESET,
  RETURN,
  reject,
  setMark,
} from '../../../../dataplanes/shared/nft/common-clauses.ts';
import { commented, type Rule, rule } from '../../../../dataplanes/shared/nft/nft-rule.ts';
import type { ChainOf, TableShape } from '../../../../dataplanes/shared/nft/structure.ts';
import type { SourceClass } from '../../../../forwarding/model.ts';
import type { BaseHook } from '../../../../linux/nftables/nft-objects.ts';
import type { TableFamily } from '../../../../linux/nftables/nftables-protocol.ts';
import {
  CLAMP_MSS,
  capture,
  hasCapture,
  hasNextProtocol,
  IS_FIRST_PACKET,
  IS_NOT_FOR_THIS_NODE,
  IS_RELATED,
  IS_REPLY,
  IS_UNANSWERED,
  isCaptured,
  isNotCaptured,
  isToServer,
  type NextProtocol,
  setNextProtocol,
  translateToItself,
} from './capture-clauses.ts';
import { FAMILY_OF_TABLE, TABLES } from './capture-sets.ts';
import { masqueradeBit, takeBit } from './capture-value.ts';
import { captureMark } from './marks.ts';

export type Chain = ChainOf;

/** After source ranges (-110) and before all translation (-100), also our own. */
const BEFORE_TRANSLATION = -105;
const TRANSLATION = -101;
/** IPVS has its own functions in the output hook at -99 and -98, in the input hook at 98 and 99. */
const AT_IPVS_OUTPUT = -99;
const JUST_AFTER_IPVS_OUTPUT = -97;
const AFTER_IPVS_OUTPUT = -90;
const AFTER_IPVS_INPUT = 101;
/** Before the chain that honours the masquerade mark (100). */
const SOURCE_TRANSLATION = 99;

const CLASSIFY = 'capture';
const LEFT = 'left';
const HIDE = 'hide';
/** Numbers of no protocol: IPVS lets pass what it has no functions for. */
const HIDDEN_PROTOCOLS = { tcp: 200, udp: 201, sctp: 202 } as const;
const CHAIN_OF_CLASS: Readonly<Record<SourceClass, string>> = {
  pod: 'from-pod',
  host: 'from-host',
  outside: 'from-outside',
};

const LAYOUT_VERSION = 1;

export const SHAPES: Readonly<Record<TableFamily, TableShape>> = {
  ip: { table: TABLES.ip, layoutVersion: LAYOUT_VERSION },
  ip6: { table: TABLES.ip6, layoutVersion: LAYOUT_VERSION },
};

/** All chains, those that others lead to first. */
export function captureChains(facts: NodeFacts, family: TableFamily): readonly Chain[] {
  const mark = captureMark(facts.masqueradeMark);
  return [
    ...(['pod', 'host', 'outside'] as const).map((from) => classChain(from, facts, family)),
    { name: CLASSIFY, rules: classifyRules(facts, family) },
    { name: LEFT, rules: [rule(RESET), rule(reject(family))] },
    ...filterChains(facts, mark),
    ...hidingChains(mark, family),
    ...natChains(mark, family),
  ];
}

/** The chains of tables that capture nothing new, as far as they differ. */
export function retiredChains(): readonly Chain[] {
  return [{ name: CLASSIFY, rules: [] }];
}

/** Pods before the node before others, as in the chains of mode nftables. */
function classifyRules(facts: NodeFacts, family: TableFamily): readonly Rule[] {
  const by = facts.podDetection[FAMILY_OF_TABLE[family]];
  const to = (from: SourceClass) => goOn('goto', CHAIN_OF_CLASS[from]);
  return [
    ...(by === undefined ? [] : [rule(isPod(by, true, family), to('pod'))]),
    rule(IS_FROM_THIS_NODE, to('host')),
    rule(to('outside')),
  ];
}

function classChain(from: SourceClass, facts: NodeFacts, family: TableFamily): Chain {
  const mark = captureMark(facts.masqueradeMark);
  return {
    name: CHAIN_OF_CLASS[from],
    rules: [
      rule(hasCapture(takeBit(from), family), capture(mark)),
      rule(
        isCaptured(mark),
        hasCapture(masqueradedBits(from, facts, family), family),
        setMark(facts.masqueradeMark),
      ),
    ],
  };
}

/** Where a pod cannot be told from others, no client is masqueraded that might be one. */
function masqueradedBits(from: SourceClass, facts: NodeFacts, family: TableFamily): number {
  const detects = facts.podDetection[FAMILY_OF_TABLE[family]] !== undefined;
  return masqueradeBit(from) | (detects ? 0 : masqueradeBit('pod'));
}

function filterChains({ clientInterfaces }: NodeFacts, mark: number): readonly Chain[] {
  const classify = [...IS_FIRST_PACKET, isNotCaptured(mark), goOn('jump', CLASSIFY)];
  const arrived =
    clientInterfaces === undefined
      ? [rule(...classify)]
      : clientInterfaces.map((name) => rule(cameBy(name), ...classify));
  const filter = (hook: BaseHook['hook'], priority: number): BaseHook => {
    return { type: 'filter', hook, priority };
  };
  const toIpvs = rule(isCaptured(mark), setMark(mark));
  return [
    {
      name: 'prerouting',
      base: filter('prerouting', BEFORE_TRANSLATION),
      rules: [rule(IS_REPLY, RETURN), ...arrived, toIpvs],
    },
    {
      name: 'output',
      base: filter('output', BEFORE_TRANSLATION),
      rules: [
        // The mark would route it to this node once more.
        commented('sent on by IPVS', isMarked(mark), clearMark(mark), RETURN),
        rule(IS_REPLY, RETURN),
        // This node forwards an answer before IPVS translates it, so the endpoint is to be told.
        commented('an answer is too long for its way', IS_RELATED, RETURN),
        rule(...classify),
        toIpvs,
      ],
    },
    {
      name: 'forward',
      // Before IPVS translates an answer (98): its source is the endpoint still.
      base: filter('forward', BEFORE_TRANSLATION),
      // IPVS drops what is too long for the way to the endpoint, and the kernel sends no ICMP error from
      // an address that is not its own.
      rules: [commented('as long as the way to the endpoint', isCaptured(mark), CLAMP_MSS)],
    },
    {
      name: 'output-late',
      base: { type: 'route', hook: 'output', priority: AFTER_IPVS_OUTPUT },
      rules: [
        // IPVS keeps the route to the Service for a packet of this node to itself.
        commented('routed anew', isMarked(mark), IS_FOR_THIS_NODE, clearMark(mark), RETURN),
        commented('unknown to IPVS', isMarked(mark), goOn('goto', LEFT)),
      ],
    },
    {
      name: 'input-late',
      base: filter('input', AFTER_IPVS_INPUT),
      // No socket may have it, and the kernel sends no reset from an address that is not its own.
      rules: [
        commented('unknown to IPVS', isMarked(mark), IS_NOT_FOR_THIS_NODE, goOn('goto', LEFT)),
      ],
    },
  ];
}

/**
 * IPVS takes whatever own sockets send to a virtual server, and rejects it where all destinations drain.
 * What is not captured has another protocol number while IPVS sees it.
 */
function hidingChains(mark: number, family: TableFamily): readonly Chain[] {
  const numbers = Object.entries(HIDDEN_PROTOCOLS) as [keyof typeof HIDDEN_PROTOCOLS, number][];
  const base = (priority: number): BaseHook => ({ type: 'filter', hook: 'output', priority });
  const replaced = (from: NextProtocol, to: NextProtocol): Rule =>
    rule(hasNextProtocol(from, family), setNextProtocol(to, family));
  const isHidden = [IS_UNANSWERED, isNotCaptured(mark), isToServer(family)];
  return [
    { name: HIDE, rules: numbers.map(([protocol, number]) => replaced(protocol, number)) },
    {
      name: 'output-hide',
      base: base(AT_IPVS_OUTPUT),
      rules: [commented('not for IPVS', ...isHidden, goOn('goto', HIDE))],
    },
    {
      name: 'output-show',
      base: base(JUST_AFTER_IPVS_OUTPUT),
      rules: numbers.map(([protocol, number]) => replaced(number, protocol)),
    },
  ];
}

function natChains(mark: number, family: TableFamily): readonly Chain[] {
  const settle = [rule(isCaptured(mark), translateToItself(family))];
  const nat = (hook: BaseHook['hook'], priority: number): BaseHook => {
    return { type: 'nat', hook, priority };
  };
  return [
    { name: 'nat-prerouting', base: nat('prerouting', TRANSLATION), rules: settle },
    { name: 'nat-output', base: nat('output', TRANSLATION), rules: settle },
    {
      name: 'nat-postrouting',
      base: nat('postrouting', SOURCE_TRANSLATION),
      rules: [
        commented(
          'an endpoint that reaches itself',
          isCaptured(mark),
          isHairpin(family),
          MASQUERADE,
        ),
      ],
    },
  ];
}
