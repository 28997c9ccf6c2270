import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError } from '../host/errors.ts';
import { cacheFolder } from '../host/folders.ts';
import type { Progress } from '../host/progress.ts';
import { run } from '../host/run.ts';

const KUBERNETES_VERSION = 'v1.36.4';
const BUILD_DEADLINE_MS = 45 * 60_000;

/** Programs of a real cluster, by the Go module that pins each of them. */
const MODULES = [
  {
    folder: 'etcd',
    linkerFlags: '-s -w',
    programs: { etcd: 'go.etcd.io/etcd/server/v3' },
  },
  {
    folder: 'kubernetes',
    linkerFlags: kubernetesLinkerFlags(),
    programs: {
      'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
      'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
      'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
      kubectl: 'k8s.io/kubernetes/cmd/kubectl',
      agnhost: 'k8s.io/kubernetes/test/images/agnhost',
    },
  },
] as const;

export type Part =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-proxy'
  | 'kubectl'
  | 'agnhost';

export type Parts = Readonly<Record<Part, string>>;

/**
 * Paths of the programs, built from the Go module proxy when the cache has none for this go.mod.
 * A program found in KUBEBUILDER_ASSETS (envtest's convention) is used as it is.
 */
export async function provideParts(progress: Progress, signal?: AbortSignal): Promise<Parts> {
  const paths: Partial<Record<Part, string>> = {};
  for (const module of MODULES) {
    const folder = await binaryFolder(module.folder);
    const entries = Object.entries(module.programs) as [Part, string][];
    for (const [part] of entries) paths[part] = preferAsset(part) ?? join(folder, part);
    const missing = entries.filter(([part]) => !existsSync(paths[part] ?? ''));
    if (missing.length === 0) continue;
    await progress.step(`build ${missing.map(([part]) => part).join(', ')} (minutes, once)`, () =>
      buildPrograms({
        module: module.folder,
        linkerFlags: module.linkerFlags,
        programs: missing,
        folder,
        signal,
      }),
    );
  }
  return paths as Parts;
}

function preferAsset(part: Part): string | undefined {
  const folder = process.env['KUBEBUILDER_ASSETS'];
  if (!folder) return undefined;
  const path = join(folder, part);
  return existsSync(path) ? path : undefined;
}

/** One folder for each state of a module's go.mod, so that a new version never meets an old binary. */
async function binaryFolder(module: string): Promise<string> {
  const goMod = await readFile(join(import.meta.dirname, module, 'go.mod'));
  const key = createHash('sha256').update(goMod).digest('hex').slice(0, 12);
  return join(cacheFolder(), 'parts', `${module}-${key}`);
}

interface Build {
  readonly module: string;
  readonly linkerFlags: string;
  readonly programs: readonly [Part, string][];
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
}

async function buildPrograms(build: Build): Promise<void> {
  const unfinished = `${build.folder}.building-${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  await mkdir(build.folder, { recursive: true });
  try {
    for (const [part, importPath] of build.programs) {
      await run(
        [
          'go',
          'build',
          '-trimpath',
          '-ldflags',
          build.linkerFlags,
          '-o',
          join(unfinished, part),
          importPath,
        ],
        {
          cwd: join(import.meta.dirname, build.module),
          // Static programs: nothing but Go is needed to build them, and they run on any root.
          env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
          deadlineMs: BUILD_DEADLINE_MS,
          signal: build.signal,
        },
      );
      await rename(join(unfinished, part), join(build.folder, part));
    }
  } catch (error) {
    throw new LabError('LAB_BUILD_FAILED', `cannot build the parts of ${build.module}`, {
      next: 'Go 1.26 or later and a reachable Go module proxy are needed (go env GOPROXY)',
      cause: error,
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

function kubernetesLinkerFlags(): string {
  const [major, minor] = KUBERNETES_VERSION.slice(1).split('.');
  const stamp = (name: string, value: string | undefined): string =>
    `-X k8s.io/component-base/version.${name}=${value}`;
  return [
    '-s -w',
    stamp('gitVersion', KUBERNETES_VERSION),
    stamp('gitMajor', major),
    stamp('gitMinor', minor),
    stamp('gitTreeState', 'clean'),
  ].join(' ');
}
