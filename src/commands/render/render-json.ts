import type { NodeFacts } from '../../dataplanes/contract.ts';
import { SOURCE_CLASSES } from '../../forwarding/model.ts';
import type { Page } from '../../modes/pages/rendered-page.ts';
import type { About } from '../basis/about.ts';
import { frontendText, nodeAddresses } from '../services/select-rows.ts';

/** The same for programs: stable names, nothing left out. */
export function renderData(
  pages: readonly Page[],
  { from, facts }: { readonly from: About; readonly facts: NodeFacts },
): object[] {
  return pages.map(({ key, table, forwarding, frontends, words, commands, chains }) => ({
    key,
    from,
    ...forwarding.id,
    table,
    affinitySeconds: forwarding.affinitySeconds,
    ...(forwarding.onlyPackets ? { onlyPackets: true } : {}),
    ...(forwarding.scheduler ? { scheduler: forwarding.scheduler } : {}),
    ...(forwarding.schedulerFault ? { schedulerFault: forwarding.schedulerFault } : {}),
    clusterEndpoints: forwarding.clusterEndpoints,
    localEndpoints: forwarding.localEndpoints,
    frontends: frontends.map(({ frontend, elements, path }) => ({
      kind: frontend.kind,
      at: frontendText(frontend),
      ...nodeAddresses(frontend, forwarding, facts),
      ...(frontend.notServed ? { notServed: frontend.notServed } : {}),
      ...(frontend.allowedSources ? { allowedSources: frontend.allowedSources } : {}),
      outcomes: Object.fromEntries(SOURCE_CLASSES.map((s) => [s, frontend.outcomes[s]])),
      path,
      elements,
    })),
    ...(words ? { words } : {}),
    ...(commands ? { commands: commands.lines } : {}),
    chains,
  }));
}
