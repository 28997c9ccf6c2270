import { SOURCE_CLASSES, servicePortKey } from '../../forwarding/model.ts';
import type { About } from '../basis/about.ts';
import { frontendText, type Row } from './rows.ts';

/** The same rows for programs: names that stay, nothing left out. */
export function servicesData(rows: readonly Row[], from: About): object[] {
  return rows.map(({ forwarding, candidates }) => ({
    key: servicePortKey(forwarding.id),
    from,
    ...forwarding.id,
    affinitySeconds: forwarding.affinitySeconds,
    ...(forwarding.onlyPackets ? { onlyPackets: true } : {}),
    frontends: forwarding.frontends.map((frontend) => ({
      kind: frontend.kind,
      at: frontendText(frontend),
      ...(frontend.address === '' ? {} : { address: frontend.address }),
      port: frontend.port,
      ...(frontend.allowedSources ? { allowedSources: frontend.allowedSources } : {}),
      ...(frontend.notServed ? { notServed: frontend.notServed } : {}),
      outcomes: Object.fromEntries(SOURCE_CLASSES.map((s) => [s, frontend.outcomes[s]])),
    })),
    clusterEndpoints: forwarding.clusterEndpoints,
    localEndpoints: forwarding.localEndpoints,
    candidates,
  }));
}
