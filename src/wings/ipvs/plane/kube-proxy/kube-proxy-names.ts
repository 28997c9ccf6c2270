import type { IpvsProtocol } from '../../../../linux/ipvs/ipvs-model.ts';

/** The device that has the addresses of all Services. */
export const KUBE_PROXY_DEVICE = 'kube-ipvs0';

const LONGEST_NAME = 31;

/** Sets with the node ports of one protocol. */
const NODE_PORT_SETS: readonly { readonly name: string; readonly protocol: IpvsProtocol }[] = [
  { name: 'KUBE-NODE-PORT-TCP', protocol: 'TCP' },
  { name: 'KUBE-NODE-PORT-LOCAL-TCP', protocol: 'TCP' },
  { name: 'KUBE-NODE-PORT-UDP', protocol: 'UDP' },
  { name: 'KUBE-NODE-PORT-LOCAL-UDP', protocol: 'UDP' },
  { name: 'KUBE-NODE-PORT-SCTP-HASH', protocol: 'SCTP' },
  { name: 'KUBE-NODE-PORT-LOCAL-SCTP-HASH', protocol: 'SCTP' },
];

const OTHER_SETS = [
  'KUBE-LOOP-BACK',
  'KUBE-CLUSTER-IP',
  'KUBE-EXTERNAL-IP',
  'KUBE-EXTERNAL-IP-LOCAL',
  'KUBE-LOAD-BALANCER',
  'KUBE-LOAD-BALANCER-LOCAL',
  'KUBE-LOAD-BALANCER-FW',
  'KUBE-LOAD-BALANCER-SOURCE-IP',
  'KUBE-LOAD-BALANCER-SOURCE-CIDR',
  'KUBE-HEALTH-CHECK-NODE-PORT',
  'KUBE-IPVS-IPS',
];

/** By name, because network policies of others have sets that begin with `KUBE-` too. */
export const KUBE_PROXY_SETS: ReadonlySet<string> = new Set(
  [...OTHER_SETS, ...NODE_PORT_SETS.map(({ name }) => name)].flatMap((name) => [
    name,
    nameForIpv6(name),
  ]),
);

export const KUBE_PROXY_NODE_PORT_SETS = NODE_PORT_SETS.flatMap(({ name, protocol }) => [
  { name, protocol },
  { name: nameForIpv6(name), protocol },
]);

/** As kube-proxy cuts it off. */
function nameForIpv6(name: string): string {
  return name.replace('KUBE-', 'KUBE-6-').slice(0, LONGEST_NAME);
}
