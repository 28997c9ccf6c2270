import { openNetlink } from '../../linux/netlink/netlink-socket.ts';
import { listAllChains } from '../../linux/nftables/filter-tables.ts';
import { NETLINK_NETFILTER } from '../../linux/nftables/nftables-protocol.ts';
import { readLegacyTables } from '../../linux/xtables/legacy-tables.ts';
import { check } from '../doctor-check.ts';
import { type Finding, note, orOk, problem } from '../finding.ts';

/** Chains of Services. The kubelet has others, such as KUBE-KUBELET-CANARY, which are no leftovers. */
const SERVICE_CHAIN =
  /^KUBE-(SERVICES|NODEPORTS|SVC-|SEP-|SVL-|EXT-|XLB-|FW-|NODE-PORT|LOAD-BALANCER)/;
const TABLE = 'kube-proxy';
/** kube-proxy's mode ipvs keeps the addresses of Services on it. */
const IPVS_LINK = 'kube-ipvs0';

interface Leftover {
  /** An agent that does not answer may have written them: to delete them would end the node's Services. */
  readonly mayBeOurs?: true;
  /** As kube-proxy names it. */
  readonly mode: string;
  readonly what: string;
  readonly next: string;
}

export const KUBE_PROXY_LEFTOVERS = check<readonly Leftover[]>({
  name: 'kube-proxy-leftovers',
  read: async ({ modes, usedMode, places, agent }) => {
    const { links } = await places();
    const isOurs =
      agent.state === 'answers' &&
      modes.some(({ name, usesKubeProxyChains }) => name === usedMode && usesKubeProxyChains);
    using netlink = openNetlink({ protocol: NETLINK_NETFILTER });
    const chains = await listAllChains(netlink);
    const own = chains.filter(({ table }) => table === TABLE);
    const byNft = chains.filter(({ name }) => SERVICE_CHAIN.test(name));
    const legacy = (await readLegacyTables()).tables.flatMap((table) =>
      table.chains.filter(({ name }) => SERVICE_CHAIN.test(name)),
    );
    // Where both backends have them, one is ours and the other is not.
    const foreign = isOurs ? smaller(byNft.length, legacy.length) : undefined;
    const mayBeOurs = agent.state !== 'answers' && agent.state !== 'absent';
    return [
      ...(own.length === 0 ? [] : [nftablesLeftover(own)]),
      ...(byNft.length === 0 || (isOurs && foreign !== 'nft')
        ? []
        : [iptablesLeftover({ backend: 'nft', count: byNft.length, mayBeOurs })]),
      ...(legacy.length === 0 || (isOurs && foreign !== 'legacy')
        ? []
        : [iptablesLeftover({ backend: 'legacy', count: legacy.length, mayBeOurs })]),
      ...(links.some(({ name }) => name === IPVS_LINK) ? [IPVS_LEFTOVER] : []),
    ];
  },
  judge: (leftovers) => orOk(leftovers.map(findingOf), 'nothing of kube-proxy in the kernel'),
});

function findingOf({ mode, what, next, mayBeOurs }: Leftover): Finding {
  if (mayBeOurs) {
    return note('KUBE_PROXY_LEFTOVERS', {
      what: `rules as kube-proxy's mode ${mode} writes them are in the kernel: ${what}`,
      why: 'the agent does not answer, and they may be its own: then they still serve this node',
      next: 'let the agent answer first (AGENT_… above), then run fairlead doctor again',
    });
  }
  return problem('KUBE_PROXY_LEFTOVERS', {
    what: `kube-proxy's mode ${mode} is still in the kernel: ${what}`,
    why: 'its rules translate connections as they were when kube-proxy ended, before or after Fairlead does',
    next,
  });
}

/** The backend with fewer chains, where both have some. */
function smaller(nft: number, legacy: number): 'nft' | 'legacy' | undefined {
  if (nft === 0 || legacy === 0) return undefined;
  return nft < legacy ? 'nft' : 'legacy';
}

function nftablesLeftover(chains: readonly { readonly family: string }[]): Leftover {
  const tables = [...new Set(chains.map(({ family }) => `${family} ${TABLE}`))].sort();
  const next = tables.map((table) => `nft delete table ${table}`).join('; ');
  return { mode: 'nftables', what: `table ${tables.join(', ')}`, next };
}

function iptablesLeftover(found: {
  readonly backend: 'nft' | 'legacy';
  readonly count: number;
  readonly mayBeOurs: boolean;
}): Leftover {
  const { backend, count, mayBeOurs } = found;
  return {
    ...(mayBeOurs ? { mayBeOurs } : {}),
    mode: 'iptables',
    what: `${count} ${count === 1 ? 'chain' : 'chains'} KUBE-* of iptables-${backend}`,
    next: 'fairlead cleanup --mode iptables, or kube-proxy --cleanup',
  };
}

const IPVS_LEFTOVER: Leftover = {
  mode: 'ipvs',
  what: `the interface ${IPVS_LINK}`,
  next: 'fairlead run --take-over removes it with its virtual servers, or kube-proxy --cleanup',
};
