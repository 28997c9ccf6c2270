import { plantText } from '../../lab/host/plant.ts';

/** A fault in Fairlead's own program, and upstream's specs of which one must notice it. */
export interface Sabotage {
  readonly name: string;
  /** What the program does wrong, in a sentence for the table. */
  readonly title: string;
  /** By their names after "[sig-network] ". Few and short: each costs half a minute or more. */
  readonly specs: string;
  /** A text that the bundle has exactly once, and what stands there instead. */
  readonly replace: string;
  readonly by: string;
}

export const SABOTAGES: readonly Sabotage[] = [
  {
    name: 'drop-masquerade',
    title: 'packets with the masquerade mark are not masqueraded',
    specs:
      'Services should implement NodePort and HealthCheckNodePort correctly when ExternalTrafficPolicy changes',
    replace: 'clearMark(mark), MASQUERADE)',
    by: 'clearMark(mark))',
  },
  {
    name: 'drop-hairpin',
    title: 'an endpoint that reaches itself is not masqueraded',
    specs: 'Services should allow pods to hairpin back to themselves through services',
    replace: 'isHairpin(family2), MASQUERADE)',
    by: 'isHairpin(family2))',
  },
  {
    name: 'ignore-terminating',
    title: 'terminating endpoints that still serve are not used as a fallback',
    specs:
      'Services should fallback to (local )?terminating endpoints when there are no ready endpoints with internalTrafficPolicy=',
    replace: 'return !endpoint.ready && endpoint.serving && endpoint.terminating;',
    by: 'return false;',
  },
  {
    name: 'keep-stale-flows',
    title: 'conntrack entries to removed endpoints are not deleted',
    specs:
      'Conntrack should be able to preserve UDP traffic when server pod cycles for a (ClusterIP|NodePort) service$',
    replace: 'this.#held.push(flow);',
    by: 'continue;',
  },
];

/** The focus for Ginkgo, and the names of the specs it selects. */
export function focusOf({ specs }: Sabotage): string {
  return `\\[sig-network\\] ${specs}`;
}

/** The program with the fault in it. */
export function plant(program: string, { name, replace, by }: Sabotage): string {
  return plantText(program, { name, replace, by, writtenIn: 'e2e/sabotage/catalogue.ts' });
}
