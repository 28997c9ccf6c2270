import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { runCommand } from '../commands/run.ts';
import { ImageError } from '../image/image-error.ts';

const KUSTOMIZE_TIMEOUT_MS = 60_000;
const HEADER = `# Fairlead in every node of a cluster. Before kubectl apply -f, edit the ConfigMap: server in
# kubeconfig.conf, clusterCIDR in config.conf. Made of deploy/manifests; see docs/install.md.
`;

/** deploy/manifests as one file, with the name of the image; rendered by the kustomize in kubectl. */
export async function renderManifests(
  root: string,
  image: { readonly name: string; readonly tag: string; readonly kubectl: string },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-manifests-'));
  try {
    const kustomization = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: [relative(folder, join(root, 'deploy/manifests'))],
      images: [{ name: 'localhost/fairlead', newName: image.name, newTag: image.tag }],
    };
    await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    return HEADER + (await kustomize(image.kubectl, folder));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function kustomize(kubectl: string, folder: string): Promise<string> {
  const { ok, output } = await runCommand({
    program: kubectl,
    args: ['kustomize', folder],
    folder,
    timeoutMs: KUSTOMIZE_TIMEOUT_MS,
    signal: new AbortController().signal,
  });
  if (ok) return output;
  throw new ImageError(
    'RELEASE_KUSTOMIZE',
    `${kubectl} kustomize failed: ${output}`,
    'install kubectl, or name one by --kubectl',
  );
}
