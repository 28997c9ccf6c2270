import { DNS_IMAGE } from './images/catalogue.ts';
import { DNS_ADDRESS, DNS_DOMAIN } from './plan.ts';

const NAMESPACE = 'kube-system';
const ACCOUNT = 'coredns';
const ROLE = 'system:coredns';
const LABELS = { 'k8s-app': 'kube-dns' };
const RBAC = 'rbac.authorization.k8s.io';

const COREFILE = `.:53 {
    errors
    health {
       lameduck 1s
    }
    ready
    kubernetes ${DNS_DOMAIN} in-addr.arpa ip6.arpa {
       pods insecure
       ttl 5
    }
    cache 5
}
`;

/** CoreDNS as kubeadm installs it, without the servers outside: there is no outside. */
export function dnsObjects(): object[] {
  const metadata = { name: ACCOUNT, namespace: NAMESPACE, labels: LABELS };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: ROLE }, rules: rules() },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: ROLE },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: ROLE },
      subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace: NAMESPACE }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: COREFILE } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: 2,
        selector: { matchLabels: LABELS },
        template: { metadata: { labels: LABELS }, spec: podSpec() },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadata, name: 'kube-dns' },
      spec: {
        clusterIP: DNS_ADDRESS,
        ipFamilyPolicy: 'PreferDualStack',
        selector: LABELS,
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns-tcp', port: 53, protocol: 'TCP' },
        ],
      },
    },
  ];
}

function rules(): object[] {
  const verbs = ['list', 'watch'];
  return [
    { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs },
  ];
}

function podSpec(): object {
  return {
    serviceAccountName: ACCOUNT,
    dnsPolicy: 'Default',
    priorityClassName: 'system-cluster-critical',
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: LABELS },
      },
    ],
    containers: [
      {
        name: ACCOUNT,
        image: DNS_IMAGE,
        imagePullPolicy: 'Never',
        args: ['-conf', '/etc/coredns/Corefile'],
        readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
        volumeMounts: [{ name: 'configuration', mountPath: '/etc/coredns' }],
      },
    ],
    volumes: [{ name: 'configuration', configMap: { name: ACCOUNT } }],
  };
}
