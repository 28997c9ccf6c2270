/**
 * A ruleset, as `nft -s list ruleset` prints it, without what a cleanup leaves because others have it
 * too: the chain KUBE-FIREWALL of the kubelet with the jumps to it, and the tables of iptables and
 * their built-in chains where nothing is in them. kube-proxy's cleanup leaves the same.
 */
export function withoutShared(ruleset: string): string {
  return ruleset
    .split(/^(?=table )/m)
    .map((table) => (OF_IPTABLES.test(table) ? withoutSharedChains(table) : table))
    .filter((table) => !EMPTY_TABLE.test(table))
    .join('');
}

const OF_IPTABLES = /^table ip6? (?:mangle|filter|nat) \{$/m;
const EMPTY_TABLE = /^table ip6? (?:mangle|filter|nat) \{\s*\}\s*$/;
const FIREWALL_JUMP = /^\t\t(?:counter )?jump KUBE-FIREWALL\n/gm;
const FIREWALL_CHAIN = /^\tchain KUBE-FIREWALL \{\n(?:\t\t.*\n)*\t\}\n+/gm;
const EMPTY_BUILT_IN =
  /^\tchain (?:PREROUTING|INPUT|FORWARD|OUTPUT|POSTROUTING) \{\n\t\ttype \w+ hook .*; policy accept;\n\t\}\n+/gm;

function withoutSharedChains(table: string): string {
  return table
    .replaceAll(FIREWALL_JUMP, '')
    .replaceAll(FIREWALL_CHAIN, '')
    .replaceAll(EMPTY_BUILT_IN, '');
}
