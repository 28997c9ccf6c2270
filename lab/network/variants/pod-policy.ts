import { enterNamespace } from '../../host/namespaces.ts';
import { run } from '../../host/run.ts';
import { FAMILIES, type Family } from '../plan.ts';
import type { NetworkVariant, PluggedPod } from './contract.ts';
import { routesToPods } from './plain.ts';

const TABLE = 'inet pod-policy';
const WORD: Readonly<Record<Family, string>> = { ipv4: 'ip', ipv6: 'ip6' };

/**
 * An engine of network policies with a table of its own, as those that came after iptables have it:
 * two chains for each pod, found by its addresses, and everything else is dropped.
 */
export const podPolicy: NetworkVariant = {
  name: 'pod-policy',
  description: 'an nftables table of another owner: forward policy drop, chains for each pod',
  dropsTransit: true,
  nodeLines: (_index, others) => routesToPods(others),
  prepareNode: async ({ path }) => {
    await run(enterNamespace(path, ['nft', '-f', '-']), { input: ruleset() });
  },
  podPlugged: async (pod) => {
    await change(pod, [
      `add chain ${TABLE} to-${pod.linkName} { accept; }`,
      `add chain ${TABLE} from-${pod.linkName} { accept; }`,
      ...elements('add', pod),
    ]);
  },
  podUnplugged: async (pod) => {
    await change(pod, [
      ...elements('delete', pod),
      `delete chain ${TABLE} to-${pod.linkName}`,
      `delete chain ${TABLE} from-${pod.linkName}`,
    ]);
  },
};

async function change(pod: PluggedPod, lines: readonly string[]): Promise<void> {
  await run(enterNamespace(pod.nodePath, ['nft', '-f', '-']), { input: `${lines.join('\n')}\n` });
}

function elements(verb: 'add' | 'delete', pod: PluggedPod): string[] {
  return FAMILIES.flatMap((family) =>
    (['to', 'from'] as const).map((way) => {
      const list = pod.networks.map((n) => `${n[family]} : jump ${way}-${pod.linkName}`);
      return `${verb} element ${TABLE} ${way}-${family} { ${list.join(', ')} }`;
    }),
  );
}

function ruleset(): string {
  const map = (family: Family, way: 'to' | 'from'): string =>
    `  map ${way}-${family} { type ${family}_addr : verdict; flags interval; }`;
  const lookup = (family: Family, way: 'to' | 'from'): string =>
    `    ${WORD[family]} ${way === 'to' ? 'daddr' : 'saddr'} vmap @${way}-${family}`;
  const both = (write: (family: Family, way: 'to' | 'from') => string): string =>
    FAMILIES.flatMap((family) => [write(family, 'to'), write(family, 'from')]).join('\n');
  return `table ${TABLE} {
${both(map)}
  chain forward {
    type filter hook forward priority filter; policy drop;
    ct state established,related accept
    ct state invalid drop
${both(lookup)}
    # Node ports of endpoints that are no pods of this node: as firewalld accepts them.
    ct status dnat accept
  }
}
`;
}
