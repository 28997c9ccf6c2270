import type { Answer, PortAnswer } from './answer.ts';
import type { ClusterState } from './states.ts';

/** Where Fairlead departs from upstream on purpose. Applied to both sides before they are compared. */
export interface KnownDifference {
  readonly name: string;
  readonly reason: string;
  readonly forgive: (answer: Answer, state: ClusterState) => Answer;
}

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    name: 'source ranges of the other family',
    reason:
      'upstream opens a load-balancer address to all of a family for which no range is given; here ' +
      'ranges of the other family close it, and a range of everybody opens both',
    forgive: (answer, state) =>
      withPorts(answer, (port) => ({ ...port, sourceRanges: comparableRanges(port, state) })),
  },
  {
    name: 'addresses given twice',
    reason: 'upstream keeps a load-balancer or external address twice; here it is one frontend',
    forgive: (answer) =>
      withPorts(answer, (port) => ({
        ...port,
        externalIPs: [...new Set(port.externalIPs)],
        loadBalancerIPs: [...new Set(port.loadBalancerIPs)],
      })),
  },
];

/** Ranges are compared only where both sides mean the same by them. */
function comparableRanges(port: PortAnswer, state: ClusterState): readonly string[] {
  const name = /^ns\/([^:/]+)/.exec(port.key)?.[1];
  const service = state.services.find((s) => (s as Named).metadata.name === name) as Named;
  const given = (service.spec.loadBalancerSourceRanges ?? []).map((range) => range.trim());
  const own = given.filter((range) => range.includes(':') === port.key.endsWith('IPv6'));
  const everybody = given.some((range) => range.endsWith('/0'));
  return own.length === 0 || everybody ? [] : [...port.sourceRanges].sort();
}

interface Named {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly loadBalancerSourceRanges?: readonly string[] };
}

function withPorts(answer: Answer, change: (port: PortAnswer) => PortAnswer): Answer {
  return { ...answer, ports: answer.ports.map(change) };
}
