import type { NodeFacts } from '../../dataplanes/contract.ts';
import type { PodDetection } from '../../forwarding/answer/place.ts';
import { isInRange, type PlacedEndpoint } from '../address-places.ts';
import { check } from '../doctor-check.ts';
import { type Finding, listedNames, note, orOk, problem } from '../finding.ts';
import { familiesOf } from '../subject.ts';

interface Facts {
  readonly detection: NodeFacts['podDetection'] | undefined;
  readonly families: readonly ('IPv4' | 'IPv6')[];
  /** Pods of this node with an address of their own. */
  readonly pods: readonly PlacedEndpoint[];
}

export const POD_DETECTION = check<Facts>({
  name: 'pod-detection',
  read: async (subject) => {
    const { endpoints } = await subject.places();
    return {
      detection: subject.node?.facts.podDetection,
      families: familiesOf(subject),
      pods: endpoints.filter(({ isLocal, isOwnAddress }) => isLocal && !isOwnAddress),
    };
  },
  judge: ({ detection, families, pods }) => {
    if (detection === undefined) return [];
    const found = families.flatMap((family): readonly Finding[] => {
      const own = pods.filter((pod) => pod.family === family);
      const way = detection[family];
      if (own.length === 0) return [];
      if (way === undefined) return [undetected(family)];
      const missed = own.filter((pod) => !isDetected(pod, way));
      if (missed.length === 0) return [];
      const names = listedNames(missed.map(({ address, service }) => `${address} (${service})`));
      return [
        problem('POD_DETECTION_WRONG', {
          what: `pods of this node are recognised by ${wayText(way)}, which leaves out ${names}`,
          why: 'connections of these pods count as from outside: they are masqueraded, and traffic policies and source ranges treat them so',
          next: 'correct clusterCIDR, or detectLocalMode, in the configuration of the proxy',
        }),
      ];
    });
    return orOk(found, `${pods.length} pods of this node are detected as such`);
  },
});

function undetected(family: string): Finding {
  return note('POD_DETECTION_NONE', {
    what: `pods of this node cannot be told from others in ${family}`,
    why: 'traffic to external addresses with externalTrafficPolicy: Local is treated as from outside, also from pods',
    next: 'set clusterCIDR, or detectLocalMode, in the configuration of the proxy',
  });
}

function isDetected({ address, link }: PlacedEndpoint, way: PodDetection): boolean {
  switch (way.by) {
    case 'cidr':
      return isInRange(way.cidr, address);
    case 'interface':
      return link?.name === way.name;
    case 'interface-prefix':
      return link?.name.startsWith(way.prefix) === true;
  }
}

function wayText(way: PodDetection): string {
  switch (way.by) {
    case 'cidr':
      return `the range ${way.cidr}`;
    case 'interface':
      return `the interface ${way.name}`;
    case 'interface-prefix':
      return `interfaces called ${way.prefix}*`;
  }
}
