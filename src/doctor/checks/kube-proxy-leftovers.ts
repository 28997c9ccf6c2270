import { readLegacyTables } from '../../linux/iptables/legacy-tables.ts';
import { openNetlink } from '../../linux/netlink/socket.ts';
import { listAllChains } from '../../linux/nftables/filter-tables.ts';
import { NETLINK_NETFILTER } from '../../linux/nftables/protocol.ts';
import { check } from '../check.ts';
import { orOk, problem } from '../finding.ts';

/** Chains of Services. The kubelet has others, such as KUBE-KUBELET-CANARY, which are no leftovers. */
const SERVICE_CHAIN =
  /^KUBE-(SERVICES|NODEPORTS|SVC-|SEP-|SVL-|EXT-|XLB-|FW-|NODE-PORT|LOAD-BALANCER)/;
const TABLE = 'kube-proxy';
/** kube-proxy's mode ipvs keeps the addresses of Services on it. */
const IPVS_LINK = 'kube-ipvs0';

interface Leftover {
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
    return [
      ...(own.length === 0 ? [] : [nftablesLeftover(own)]),
      ...(byNft.length === 0 || (isOurs && foreign !== 'nft')
        ? []
        : [iptablesLeftover('nft', byNft.length)]),
      ...(legacy.length === 0 || (isOurs && foreign !== 'legacy')
        ? []
        : [iptablesLeftover('legacy', legacy.length)]),
      ...(links.some(({ name }) => name === IPVS_LINK) ? [IPVS_LEFTOVER] : []),
    ];
  },
  judge: (leftovers) =>
    orOk(
      leftovers.map(({ mode, what, next }) =>
        problem('KUBE_PROXY_LEFTOVERS', {
          what: `kube-proxy's mode ${mode} is still in the kernel: ${what}`,
          why: 'its rules translate connections as they were when kube-proxy ended, before or after Fairlead does',
          next,
        }),
      ),
      'nothing of kube-proxy in the kernel',
    ),
});

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

function iptablesLeftover(backend: 'nft' | 'legacy', count: number): Leftover {
  return {
    mode: 'iptables',
    what: `${count} ${count === 1 ? 'chain' : 'chains'} KUBE-* of iptables-${backend}`,
    next: 'fairlead cleanup --mode iptables, or kube-proxy --cleanup',
  };
}

const IPVS_LEFTOVER: Leftover = {
  mode: 'ipvs',
  what: `the interface ${IPVS_LINK}`,
  next: 'kube-proxy --cleanup, or ipvsadm -C and ip link delete kube-ipvs0',
};
