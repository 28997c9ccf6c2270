import type { FairleadMode } from '../../../lab/proxies/fairlead-modes.ts';
import { ADDRESS_INCIDENTS } from './catalogue/addresses.ts';
import { AGENT_INCIDENTS } from './catalogue/agent.ts';
import { BAD_ENDPOINT_INCIDENTS } from './catalogue/bad-endpoint.ts';
import { CONNTRACK_INCIDENTS } from './catalogue/conntrack.ts';
import { NETWORK_INCIDENTS } from './catalogue/network.ts';
import { NO_ENDPOINT_INCIDENTS } from './catalogue/no-endpoint.ts';
import { RULE_INCIDENTS } from './catalogue/rules.ts';
import type { Incident } from './incident.ts';

/** In the order in which they are produced: those that restart an agent or the API server come last. */
export const INCIDENTS: readonly Incident[] = [
  ...NO_ENDPOINT_INCIDENTS,
  ...BAD_ENDPOINT_INCIDENTS,
  ...ADDRESS_INCIDENTS,
  ...NETWORK_INCIDENTS,
  ...CONNTRACK_INCIDENTS,
  ...RULE_INCIDENTS,
  ...AGENT_INCIDENTS,
];

export interface LeftOut {
  readonly name: string;
  readonly reason: string;
}

/** Those that apply to a mode, and the others with the reason. */
export function incidentsOf(
  mode: FairleadMode,
  only?: RegExp,
): { readonly chosen: readonly Incident[]; readonly leftOut: readonly LeftOut[] } {
  const named = INCIDENTS.filter(({ name }) => only?.test(name) ?? true);
  return {
    chosen: named.filter(({ notIn }) => notIn?.[mode] === undefined),
    leftOut: named.flatMap(({ name, notIn }) => {
      const reason = notIn?.[mode];
      return reason === undefined ? [] : [{ name, reason }];
    }),
  };
}
