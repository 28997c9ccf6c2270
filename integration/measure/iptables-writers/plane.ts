import type { NodeFacts } from '../../../src/dataplanes/contract.ts';
import type { Forwarding, Outcome } from '../../../src/forwarding/model.ts';
import { openNetlink } from '../../../src/linux/netlink/socket.ts';
import { NETLINK_NETFILTER } from '../../../src/linux/nftables/protocol.ts';
import { IptablesPlane } from '../../../src/wings/iptables/plane/plane.ts';

export const FACTS: NodeFacts = {
  podDetection: { IPv4: { by: 'cidr', cidr: '10.128.0.0/9' }, IPv6: undefined },
  nodePortAddresses: { IPv4: 'all', IPv6: 'all' },
  serviceRanges: [],
  masqueradeMark: 0x4000,
};

export function writing(path: string): IptablesPlane {
  return new IptablesPlane({
    path,
    openNetlink: () => openNetlink({ protocol: NETLINK_NETFILTER }),
  });
}

/** A Service with a cluster IP. */
export function service(index: number, endpointCount: number): Forwarding {
  const to = (masquerade: boolean): Outcome =>
    endpointCount === 0 ? { action: 'reject' } : { action: 'forward', list: 'cluster', masquerade };
  const [high, low] = [index >> 8, index & 0xff];
  return {
    id: { namespace: 't', service: `svc-${index}`, port: '', protocol: 'TCP', family: 'IPv4' },
    frontends: [
      {
        kind: 'cluster-ip',
        address: `10.96.${high}.${low}`,
        port: 80,
        outcomes: { pod: to(false), host: to(true), outside: to(true) },
      },
    ],
    clusterEndpoints: Array.from({ length: endpointCount }, (_, at) => ({
      address: `10.${128 + high}.${low}.${at + 1}`,
      port: 8080,
      local: false,
    })),
    localEndpoints: [],
    affinitySeconds: 0,
  };
}
