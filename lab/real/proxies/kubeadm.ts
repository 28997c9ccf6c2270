import type { SharedMode } from '../../proxies/fairlead-modes.ts';
import { CONFIG_FILE, CONFIG_FOLDER, configurationFiles } from './configuration.ts';

const NAMESPACE = 'kube-system';
const NAME = 'kube-proxy';
/** Specs that restart the proxy select it by this. */
const LABELS = { 'k8s-app': NAME };

/** kube-proxy as kubeadm installs it: account, role, configuration, and a pod on every node. */
export function kubeProxyObjects(of: { image: string; mode: SharedMode }): object[] {
  const metadata = { name: NAME, namespace: NAMESPACE, labels: LABELS };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: NAME },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:node-proxier',
      },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: NAMESPACE }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: configurationFiles(of.mode) },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata,
      spec: {
        selector: { matchLabels: LABELS },
        template: { metadata: { labels: LABELS }, spec: podSpec(of.image) },
      },
    },
  ];
}

function podSpec(image: string): object {
  return {
    hostNetwork: true,
    dnsPolicy: 'Default',
    serviceAccountName: NAME,
    priorityClassName: 'system-node-critical',
    tolerations: [{ operator: 'Exists' }],
    containers: [
      {
        name: NAME,
        image,
        imagePullPolicy: 'Never',
        command: [
          '/usr/local/bin/kube-proxy',
          `--config=${CONFIG_FOLDER}/${CONFIG_FILE}`,
          '--hostname-override=$(NODE_NAME)',
          '--v=2',
        ],
        env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
        securityContext: { privileged: true },
        volumeMounts: [
          { name: 'configuration', mountPath: CONFIG_FOLDER },
          { name: 'lock', mountPath: '/run/xtables.lock' },
        ],
      },
    ],
    volumes: [
      { name: 'configuration', configMap: { name: NAME } },
      { name: 'lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
    ],
  };
}
