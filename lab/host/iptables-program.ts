/** The multi-call program that `iptables` and its relatives are on a node. */
export type IptablesProgram = 'xtables-nft-multi' | 'xtables-legacy-multi';
