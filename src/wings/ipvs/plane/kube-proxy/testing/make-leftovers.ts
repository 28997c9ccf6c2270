import { ip, run } from '../../../../../linux/netlink/testing/own-namespace.ts';

/** What kube-proxy in ipvs mode makes for two Services, one of them with a node port. */
export function makeLeftovers({ nodeAddress }: { readonly nodeAddress: string }): void {
  ip(
    'link add kube-ipvs0 type dummy',
    'addr add 10.96.0.1/32 dev kube-ipvs0',
    'addr add 10.96.0.2/32 dev kube-ipvs0',
    'addr add fd00:96::1/128 dev kube-ipvs0 nodad',
  );
  run(['ipset', 'restore'], SETS);
  run(['ipvsadm', '-R'], servers(nodeAddress));
}

const SETS = `
create KUBE-CLUSTER-IP hash:ip,port family inet
add KUBE-CLUSTER-IP 10.96.0.1,tcp:80
create KUBE-6-CLUSTER-IP hash:ip,port family inet6
create KUBE-LOOP-BACK hash:ip,port,ip family inet
create KUBE-NODE-PORT-TCP bitmap:port range 0-65535
add KUBE-NODE-PORT-TCP 30080
create KUBE-HEALTH-CHECK-NODE-PORT bitmap:port range 0-65535
create KUBE-IPVS-IPS hash:ip family inet
create KUBE-6-LOAD-BALANCER-SOURCE-CID hash:ip,port,net family inet6
create KUBE-SRC-OF-A-NETWORK-POLICY hash:ip family inet
`;

function servers(nodeAddress: string): string {
  return `
-A -t 10.96.0.1:80 -s rr
-a -t 10.96.0.1:80 -r 10.244.0.1:8080 -m -w 1
-A -u 10.96.0.2:53 -s rr
-A -t [fd00:96::1]:80 -s rr
-a -t [fd00:96::1]:80 -r [fd00:244::1]:8080 -m -w 1
-A -t ${nodeAddress}:30080 -s rr
-a -t ${nodeAddress}:30080 -r 10.244.0.1:8080 -m -w 1
-A -t ${nodeAddress}:8443 -s wlc
-A -t 198.51.100.1:30080 -s wlc
`.trimStart();
}
