import type { Scenario } from '../../../conformance/scenario.ts';
import { corpusObjects } from '../../tests/render-equality/corpus-objects.ts';
import type { NamespaceState } from './states.ts';

interface Named {
  readonly metadata: { readonly namespace: string; readonly name: string };
}

interface ServiceObject extends Named {
  readonly spec: object;
  readonly status: { readonly loadBalancer: { readonly ingress: readonly { ip: string }[] } };
}

const DUAL_STACK = { ipFamilyPolicy: 'RequireDualStack' };

/** What the scenarios declare, a state for each. */
export function corpusStates(corpus: readonly Scenario[]): NamespaceState[] {
  const { services, slices } = corpusObjects(corpus);
  return corpus.map((_, index) => {
    const isOfIt = ({ metadata }: Named): boolean => metadata.namespace === `s${index}`;
    return {
      services: (services as ServiceObject[]).filter(isOfIt).map(({ metadata, spec, status }) => ({
        object: { metadata: withoutNamespace(metadata), spec: { ...DUAL_STACK, ...spec } },
        ingress: status.loadBalancer.ingress,
      })),
      slices: (slices as Named[])
        .filter(isOfIt)
        .map((slice) => ({ ...slice, metadata: withoutNamespace(slice.metadata) })),
    };
  });
}

/** It is created in a namespace that others have used before. */
function withoutNamespace({ namespace: _, ...rest }: Named['metadata']): { name: string } {
  return { ...rest };
}
