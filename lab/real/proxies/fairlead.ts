import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { version2Path } from '../../host/cgroups.ts';
import { LabError } from '../../host/errors.ts';
import { run } from '../../host/run.ts';
import {
  FAIRLEAD_MODES,
  type FairleadMode,
  fairleadProxy,
  kernelPartsOf,
} from '../../proxies/fairlead-modes.ts';
import { NODE_GROUP } from '../nodes/files.ts';
import { configurationFiles } from './configuration.ts';
import type { ProxyContext, RealProxy } from './contract.ts';

/** To the lab Fairlead is a program like any other: its image by the command, its own manifests. */
const CHECKOUT = join(import.meta.dirname, '../../..');
const IMAGE = { name: 'fairlead.test/fairlead', tag: 'lab' };
const IMAGE_DEADLINE_MS = 120_000;

export const FAIRLEAD_PROXIES: readonly RealProxy[] = FAIRLEAD_MODES.filter(
  (mode) => kernelPartsOf(mode).length === 0,
).map(fairlead);

function fairlead(mode: FairleadMode): RealProxy {
  return {
    name: `fairlead-${mode}`,
    description: `Fairlead, ${mode} mode`,
    isUpstream: false,
    mayMissZoneAtStart: false,
    provideArchive: (context) => makeFairleadArchive(context),
    writeObjects: (folder) => writeKustomization(join(folder, 'fairlead'), mode),
  };
}

export interface FairleadImage {
  /** Path of a bundle to take in place of this checkout's sources. */
  readonly program?: string;
  /** Under the name that a release has, and the manifests; else under one of the lab's. */
  readonly isReleaseName?: boolean;
}

/** Made anew each time: the program is what this checkout holds now. */
export async function makeFairleadArchive(
  context: Pick<ProxyContext, 'folder' | 'signal'>,
  image: FairleadImage = {},
): Promise<string> {
  const path = join(context.folder, 'fairlead.tar');
  const maker = join(CHECKOUT, 'tools/image/main.ts');
  // Unpinned, from the packages of this machine: this image is for the lab and is never released.
  const command = [process.execPath, maker, '--out', path, '--unpinned'] as const;
  const program = image.program === undefined ? [] : ['--program', image.program];
  const name = image.isReleaseName ? [] : ['--tag', `${IMAGE.name}:${IMAGE.tag}`];
  await run([...command, ...program, ...name], {
    deadlineMs: IMAGE_DEADLINE_MS,
    signal: context.signal,
  });
  return path;
}

/** The program of this checkout in one file, as it is shipped. */
export async function bundleFairlead(path: string, signal?: AbortSignal): Promise<void> {
  const command = [process.execPath, join(CHECKOUT, 'tools/bundle.ts')] as const;
  await run([...command, 'src/main.ts', path], { deadlineMs: IMAGE_DEADLINE_MS, signal });
}

/** Manifests as a person would use them: another image and another configuration. */
async function writeKustomization(folder: string, mode: FairleadMode): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const files = configurationFiles(mode);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: 'kube-system',
    resources: [relative(folder, join(CHECKOUT, fairleadProxy(mode).manifests))],
    configMapGenerator: [{ name: 'fairlead', behavior: 'replace', files: Object.keys(files) }],
    images: [{ name: 'localhost/fairlead', newName: IMAGE.name, newTag: IMAGE.tag }],
    ...(fairleadProxy(mode).manifests === 'deploy/ebpf'
      ? { patches: [{ patch: ownGroupPatch() }] }
      : {}),
  };
  await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization, null, 2));
  return ['-k', folder];
}

/** All nodes are on one machine: the control groups of each are those below a group of its own. */
function ownGroupPatch(): string {
  if (version2Path('') === undefined) {
    throw new LabError('LAB_TOOL_MISSING', 'this machine has no cgroup v2 hierarchy', {
      next: 'mkdir /sys/fs/cgroup/unified && mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified',
    });
  }
  const volumes = [{ name: 'cgroup', hostPath: { path: NODE_GROUP } }];
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'fairlead', namespace: 'kube-system' },
    spec: { template: { spec: { volumes } } },
  });
}
