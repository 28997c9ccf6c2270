import type { MetricSet } from '../metrics.ts';

export interface Feature {
  readonly name: string;
  /** Empty: generally available. */
  readonly stage: string;
  readonly isOn: boolean;
}

export interface KubernetesAbout {
  /** Version of the kube-proxy that Fairlead replaces, such as `v1.37.1`. */
  readonly version: string;
  readonly features: readonly Feature[];
}

const LABELS = [
  'build_date',
  'compiler',
  'git_commit',
  'git_tree_state',
  'git_version',
  'go_version',
  'major',
  'minor',
  'platform',
] as const;

const GO_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64' };

/**
 * Metrics that every component of Kubernetes has. The version is that of the kube-proxy that
 * Fairlead replaces, because alerts compare it with other components. The labels about Go are
 * empty.
 */
export function defineKubernetes(set: MetricSet, { version, features }: KubernetesAbout): void {
  const build = set.gauge({
    name: 'kubernetes_build_info',
    help: 'Always 1; git_version is that of the kube-proxy that Fairlead replaces',
    labels: LABELS,
  });
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const platform = `linux/${GO_ARCHITECTURES[process.arch] ?? process.arch}`;
  build.set(1, '', 'node', '', '', version, '', major, minor, platform);
  const enabled = set.gauge({
    name: 'kubernetes_feature_enabled',
    help: '1 if the feature gate is enabled',
    labels: ['name', 'stage'],
  });
  for (const { name, stage, isOn } of features) enabled.set(isOn ? 1 : 0, name, stage);
}
