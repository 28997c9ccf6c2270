import type { Family, SourceClass } from '../../forwarding/model.ts';
import type { PodDetection } from '../contract.ts';
import { FORWARDER_ADDRESSES } from '../shared/forwarder-addresses.ts';
import type { Class } from './classes.ts';
import type { Rule, Statement } from './statements.ts';

/**
 * Sends connections to the forwarder, a process of this machine, instead of an endpoint: to one port
 * for each source class, because a socket cannot tell by which interface its client came in. The
 * ports are elements with a timeout. Without them every rule here fails, and the packet goes on to
 * the rules that translate.
 */

/** Rows for which the forwarder has no room are translated. */
const KEPT: readonly Rule[] = [
  {
    statements: [
      { do: 'match-frontend', where: 'service', set: 'kept-services' },
      { do: 'count-not-handed-over' },
      { do: 'leave' },
    ],
    comment: 'no room in the forwarder',
  },
  {
    statements: [
      { do: 'match-local', of: 'daddr' },
      { do: 'match-frontend', where: 'nodeport', set: 'kept-nodeports' },
      { do: 'count-not-handed-over' },
      { do: 'leave' },
    ],
    comment: 'no room in the forwarder',
  },
];

/** Which sources a class forwards: those of other machines only where their list has endpoints. */
type Sources = 'all' | 'inside';

const CHAIN: Readonly<Record<Sources, string>> = { all: 'hand-over', inside: 'hand-over/inside' };

export function handOverChains(
  by: PodDetection | undefined,
): readonly { readonly name: string; readonly rules: readonly Rule[] }[] {
  return (['all', 'inside'] as const).map((sources) => ({
    name: CHAIN[sources],
    rules: handOverRules(sources, by),
  }));
}

/** The first rule of a class that packets reach by their destination. */
export function handOver({ treatment, size, stickySeconds }: Class): Rule {
  const isLocal = treatment === 'local' || treatment === 'local-host';
  const hasEndpoints = size > 0 || stickySeconds > 0;
  const chain = CHAIN[isLocal && !hasEndpoints ? 'inside' : 'all'];
  return { statements: [{ do: 'jump', chain }] };
}

/** Its listeners are for connections that were handed over: neighbours could route to its address. */
export function notHandedOver(family: Family): Rule {
  return {
    statements: [
      { do: 'match-new' },
      { do: 'match-range', cidr: forwarderCidr(family) },
      { do: 'match-untranslated' },
      { do: 'drop' },
    ],
    comment: 'not handed over to the forwarder',
  };
}

/** Where node ports are served on all addresses of this machine, they are not on that of the forwarder. */
export function handedOver(family: Family): Rule {
  return {
    statements: [{ do: 'match-range', cidr: forwarderCidr(family) }, { do: 'leave' }],
    comment: 'the forwarder',
  };
}

function forwarderCidr(family: Family): string {
  return `${FORWARDER_ADDRESSES[family]}/${family === 'IPv4' ? 32 : 128}`;
}

/**
 * Pods before the node before others, as in the chains that translate.
 *
 * A range may have the pods of other nodes too. Where the policy is Local and no endpoint is on this
 * node, kube-proxy never serves those: it keeps the pod's address, so that the answer does not come
 * back this way. The forwarder would serve them from its own address, and is not asked.
 */
function handOverRules(sources: Sources, by: PodDetection | undefined): readonly Rule[] {
  const takesPods = by !== undefined && (sources === 'all' || by.by !== 'cidr');
  const cases: readonly (readonly [SourceClass, readonly Statement[]])[] = [
    ...(takesPods ? [['pod', [{ do: 'match-pod', by, is: true }]] as const] : []),
    ['host', [{ do: 'match-local', of: 'saddr' }]],
    ...(sources === 'all' ? [['outside', []] as const] : []),
  ];
  const own: Rule = {
    statements: [{ do: 'match-transparent' }, { do: 'leave' }],
    comment: 'of the forwarder itself',
  };
  const given = cases.map(
    ([from, match]): Rule => ({ statements: [...match, { do: 'hand-over', from }] }),
  );
  const counted = (sources === 'all' ? [[]] : cases.map(([, match]) => match)).map(
    (match): Rule => ({
      statements: [...match, { do: 'count-not-handed-over' }, { do: 'leave' }],
    }),
  );
  return [own, ...KEPT, ...given, ...counted];
}
