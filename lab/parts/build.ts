import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../host/progress.ts';
import { type GoProgram, provideProgram } from './go-build.ts';

/** The reference: the newest release that the Go module proxy serves. */
export const KUBERNETES_VERSION = 'v1.37.1';

const IMPORT_PATHS = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  agnhost: 'k8s.io/kubernetes/test/images/agnhost',
} as const;

export type Part = keyof typeof IMPORT_PATHS;

/** Paths of the programs of a real cluster. */
export type Parts = Readonly<Record<Part, string>>;

/**
 * Provides every program, built from the Go module proxy when the cache has none for this go.mod.
 * One found in KUBEBUILDER_ASSETS (envtest's convention) is used as it is.
 */
export async function provideParts(progress: Progress, signal?: AbortSignal): Promise<Parts> {
  const paths: Partial<Record<Part, string>> = {};
  for (const name of Object.keys(IMPORT_PATHS) as Part[]) {
    paths[name] = findAsset(name) ?? (await provideProgram(programOf(name), { progress, signal }));
  }
  return paths as Parts;
}

function findAsset(name: Part): string | undefined {
  const folder = process.env['KUBEBUILDER_ASSETS'];
  if (!folder) return undefined;
  const path = join(folder, name);
  return existsSync(path) ? path : undefined;
}

function programOf(name: Part): GoProgram {
  const common = { name, importPath: IMPORT_PATHS[name], sources: ['go.mod'] };
  return name === 'etcd'
    ? { ...common, module: 'etcd', linkerFlags: '-s -w' }
    : { ...common, module: 'kubernetes', linkerFlags: kubernetesLinkerFlags(KUBERNETES_VERSION) };
}

export function kubernetesLinkerFlags(version: string): string {
  const [major, minor] = version.slice(1).split('.');
  const stamp = (name: string, value: string | undefined): string =>
    `-X k8s.io/component-base/version.${name}=${value}`;
  return [
    '-s -w',
    stamp('gitVersion', version),
    stamp('gitMajor', major),
    stamp('gitMinor', minor),
    stamp('gitTreeState', 'clean'),
  ].join(' ');
}
