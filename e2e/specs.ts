/**
 * Which of upstream's specs concern a node proxy, by the text of their names after "[sig-network] ".
 * The rest of that group is about DNS, policies, ingress and load balancers of clouds.
 */
const PROXY_GROUPS = [
  'Services ',
  'KubeProxy ',
  'Conntrack ',
  'LocalhostNodePorts ',
  'Networking Granular Checks: Services',
  'Networking should check kube-proxy urls',
  'Networking should recreate its iptables rules',
  'Traffic Distribution ',
  'Topology Hints ',
  'EndpointSlice ',
  'HostPort ',
  'Service endpoints latency',
  '\\[Feature:IPv6DualStack\\]',
];

/** Selects specs by name, for Ginkgo. */
export function focusOf(wish: { focus?: string | undefined; conformance: boolean }): string {
  if (wish.conformance) return `\\[sig-network\\].*(${wish.focus ?? ''}).*\\[Conformance\\]`;
  return wish.focus ?? `\\[sig-network\\] (${PROXY_GROUPS.join('|')})`;
}

/** They restart what the others are talking through, and so run by themselves. */
export const DISRUPTIVE = '\\[Disruptive\\]';

export interface LeftOut {
  readonly pattern: string;
  readonly reason: string;
}

/** Specs that cannot run on these clusters, whatever the proxy. */
export const LEFT_OUT: readonly LeftOut[] = [
  {
    pattern: '\\[Feature:SCTPConnectivity\\]',
    reason: 'the kernel may be built without SCTP sockets',
  },
  {
    pattern: 'should work after restarting apiserver',
    reason:
      'the API server is a process outside the nodes, not a pod; `npm run break -- faults` kills it',
  },
  {
    pattern: '\\[Feature:KubeProxyDaemonSetMigration\\]',
    reason: 'needs a proxy that starts as a static pod',
  },
  {
    pattern: 'Proxy version v1 should proxy through a service and a pod',
    reason:
      'tests the proxy of the API server; the test image built here has no certificate for it',
  },
  {
    pattern: 'should let a node pull an image from a registry exposed via localhost NodePort',
    reason: 'the test image built here has no images to serve as a registry',
  },
  {
    pattern: '\\[Feature:Networking-IPv[46]\\]',
    reason: 'there is no host outside the cluster to reach',
  },
];
