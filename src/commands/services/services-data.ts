import type { NodeFacts } from '../../dataplanes/contract.ts';
import { SOURCE_CLASSES, servicePortKey } from '../../forwarding/model.ts';
import type { About } from '../basis/about.ts';
import { frontendText, nodeAddresses, type Row } from './select-rows.ts';

/** The rows as data with stable names. */
export function servicesData(
  rows: readonly Row[],
  { from, facts }: { readonly from: About; readonly facts: NodeFacts },
): object[] {
  return rows.map(({ forwarding, candidates }) => ({
    key: servicePortKey(forwarding.id),
    from,
    ...forwarding.id,
    affinitySeconds: forwarding.affinitySeconds,
    ...(forwarding.onlyPackets ? { onlyPackets: true } : {}),
    ...(forwarding.scheduler ? { scheduler: forwarding.scheduler } : {}),
    ...(forwarding.schedulerFault ? { schedulerFault: forwarding.schedulerFault } : {}),
    frontends: forwarding.frontends.map((frontend) => ({
      kind: frontend.kind,
      at: frontendText(frontend),
      ...(frontend.address === '' ? {} : { address: frontend.address }),
      port: frontend.port,
      ...nodeAddresses(frontend, forwarding, facts),
      ...(frontend.allowedSources ? { allowedSources: frontend.allowedSources } : {}),
      ...(frontend.notServed ? { notServed: frontend.notServed } : {}),
      outcomes: Object.fromEntries(SOURCE_CLASSES.map((s) => [s, frontend.outcomes[s]])),
    })),
    clusterEndpoints: forwarding.clusterEndpoints,
    localEndpoints: forwarding.localEndpoints,
    candidates,
  }));
}
