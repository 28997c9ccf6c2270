import type { FieldRow } from './field-row.ts';

/** What is read from the cluster, and facts of it that a machine with few rights cannot read. */
export const SCOPE_FIELDS = {
  'fairlead.zone': {
    kind: 'text',
    about:
      'the zone of this machine, for topology-aware routing; overrides the label topology.kubernetes.io/zone of the Node object',
    kubeProxyDefault: '',
    change: 'live',
  },
  'fairlead.scope.namespaces': {
    kind: 'texts',
    about:
      'namespaces whose Services are read and served; empty: all namespaces, unless fairlead.scope.services is set',
    kubeProxyDefault: [],
    change: 'restart',
  },
  'fairlead.scope.services': {
    kind: 'texts',
    about:
      'Services that are read and served by their names, as namespace/name, in addition to those of fairlead.scope.namespaces and fairlead.scope.serviceSelector',
    kubeProxyDefault: [],
    change: 'restart',
  },
  'fairlead.scope.serviceSelector': {
    kind: 'text',
    about:
      'label selector, as for kubectl -l: only matching Services are read and served, of fairlead.scope.namespaces if it is set',
    kubeProxyDefault: '',
    change: 'restart',
  },
  'fairlead.serviceRanges': {
    kind: 'texts',
    about:
      "the cluster's Service ranges as CIDRs, used instead of its ServiceCIDR objects, which a Role cannot grant; empty: the objects are watched. Without a Node object the objects are not trusted: ClusterIPs outside of the configured ranges are not served, and none if it is empty",
    kubeProxyDefault: [],
    change: 'restart',
  },
  'fairlead.serviceRoutes': {
    kind: 'text',
    about:
      'routes to Service ranges. "missing": one is added for each range to which the machine has no route, because connect() fails without one; "none": none are added',
    kubeProxyDefault: 'none',
    defaultFollows: '"missing" when fairlead.nodeObject is "none"',
    choices: ['missing', 'none'],
    zeroIsUnset: true,
    change: 'restart',
  },
  'fairlead.podNetwork': {
    kind: 'text',
    about:
      'how this machine reaches pods. "routed": by its routes; "api-server": TCP alone, through pods/portforward of the API server, without a route to any pod',
    kubeProxyDefault: 'routed',
    choices: ['routed', 'api-server'],
    zeroIsUnset: true,
    change: 'restart',
  },
  'fairlead.dnsStub': {
    kind: 'text',
    about:
      'address and port where names of Services are answered, over UDP, from the Services that are read; empty: nowhere. Other names are refused, so that a resolver asks its next server',
    kubeProxyDefault: '',
    change: 'restart',
  },
  'fairlead.clusterDNS': {
    kind: 'texts',
    about:
      "addresses of the cluster's DNS Service, for fairlead outside; empty: those of the Service kube-system/kube-dns. Without a Node object, the eBPF modes leave these addresses to nftables, because systemd-resolved binds its queries to an interface",
    kubeProxyDefault: [],
    change: 'live',
  },
  'fairlead.clusterDomain': {
    kind: 'text',
    about: "the cluster's DNS domain, for fairlead outside",
    kubeProxyDefault: 'cluster.local',
    zeroIsUnset: true,
    change: 'live',
  },
} as const satisfies Record<string, FieldRow>;
