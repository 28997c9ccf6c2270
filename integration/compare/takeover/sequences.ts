import type { OwnerName } from './owners.ts';

export interface Sequence {
  readonly name: string;
  /** Who has the node, one after the other. */
  readonly owners: readonly [OwnerName, ...OwnerName[]];
}

export const SEQUENCES: readonly Sequence[] = [
  {
    name: 'iptables, nft backend',
    owners: ['kube-proxy iptables-nft', 'Fairlead iptables-nft', 'kube-proxy iptables-nft'],
  },
  {
    name: 'iptables, legacy backend',
    owners: [
      'kube-proxy iptables-legacy',
      'Fairlead iptables-legacy',
      'kube-proxy iptables-legacy',
    ],
  },
  {
    name: 'modes of Fairlead',
    owners: ['Fairlead nftables', 'Fairlead iptables-nft', 'Fairlead nftables'],
  },
  {
    name: 'modes of Fairlead, legacy backend',
    owners: ['Fairlead nftables', 'Fairlead iptables-legacy', 'Fairlead nftables'],
  },
  {
    name: 'nftables',
    owners: ['kube-proxy nftables', 'Fairlead nftables', 'kube-proxy nftables'],
  },
  {
    name: 'iptables to nftables',
    owners: ['kube-proxy iptables-nft', 'Fairlead nftables', 'kube-proxy iptables-nft'],
  },
  {
    name: 'ipvs',
    owners: ['kube-proxy ipvs', 'Fairlead ipvs', 'kube-proxy ipvs'],
  },
  {
    name: 'modes of Fairlead, ipvs',
    owners: ['Fairlead nftables', 'Fairlead ipvs', 'Fairlead nftables'],
  },
  {
    name: 'ipvs to nftables',
    owners: ['kube-proxy ipvs', 'Fairlead nftables, taking over', 'kube-proxy ipvs'],
  },
];
