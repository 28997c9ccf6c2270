import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type GoBuildContext, type GoProgram, provideProgram } from './go-build.ts';

/** The reference: the newest release that the Go module proxy serves. */
export const KUBERNETES_VERSION = 'v1.37.1';

/** Without these no cluster runs. */
const PARTS = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  agnhost: 'k8s.io/kubernetes/test/images/agnhost',
} as const;

/** Only some commands use these: `lab up` with Fairlead needs neither. */
const TOOLS = {
  'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
} as const;

const IMPORT_PATHS = { ...PARTS, ...TOOLS };

type Part = keyof typeof PARTS;
type Tool = keyof typeof TOOLS;

/** Paths of the programs that a cluster consists of. */
export type Parts = Readonly<Record<Part, string>>;
export type PartsAndTools = Parts & Readonly<Record<Tool, string>>;

/** The programs of a cluster; those that the cache does not have are built. */
export async function provideParts(context: GoBuildContext): Promise<Parts> {
  const paths: Partial<Record<Part, string>> = {};
  for (const name of Object.keys(PARTS) as Part[]) paths[name] = await provide(name, context);
  return paths as Parts;
}

/** A program that is built when it is first asked for. */
export async function provideTool(name: Tool, context: GoBuildContext): Promise<string> {
  return await provide(name, context);
}

export async function providePartsAndTools(context: GoBuildContext): Promise<PartsAndTools> {
  return {
    ...(await provideParts(context)),
    'kube-proxy': await provideTool('kube-proxy', context),
    kubectl: await provideTool('kubectl', context),
  };
}

/** A program found in KUBEBUILDER_ASSETS (envtest's convention) is used as it is. */
async function provide(name: Part | Tool, context: GoBuildContext): Promise<string> {
  return findAsset(name) ?? (await provideProgram(programOf(name), context));
}

function findAsset(name: string): string | undefined {
  const folder = process.env['KUBEBUILDER_ASSETS'];
  if (!folder) return undefined;
  const path = join(folder, name);
  return existsSync(path) ? path : undefined;
}

function programOf(name: Part | Tool): GoProgram {
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
