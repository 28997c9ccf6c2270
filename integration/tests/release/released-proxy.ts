import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { API_PORT } from '../../../lab/control-plane/credentials.ts';
import { CLUSTER_CIDR, FABRIC } from '../../../lab/network/plan.ts';
import type { RealProxy } from '../../../lab/real/proxies/contract.ts';

/** What the first lines of the file tell its reader to edit. */
const EDITS = [
  ['server: https://CONTROL-PLANE:6443', `server: https://${FABRIC.ipv4}:${API_PORT}`],
  ['clusterCIDR: 10.244.0.0/16', `clusterCIDR: ${CLUSTER_CIDR.ipv4},${CLUSTER_CIDR.ipv6}`],
] as const;

export interface Released {
  /** The folder with the files. */
  readonly release: string;
  readonly version: string;
}

/** The files of a release, used as its reader would use them: the image is imported on each node. */
export function releasedProxy(of: Released): RealProxy {
  const { release, version } = of;
  return {
    name: `fairlead-${version}`,
    description: `Fairlead ${version} from the files of its release`,
    isUpstream: false,
    mayMissZoneAtStart: false,
    provideArchive: async () => join(release, `fairlead-${version}-image.tar`),
    writeObjects: async (folder) => await writeManifests(folder, { ...of, edits: EDITS }),
  };
}

/** The same, but kubelets pull the image from a registry that the reader has copied it to. */
export function pulledProxy(
  of: Released & { readonly from: string; readonly to: string; readonly push: () => Promise<void> },
): RealProxy {
  const edits = [...EDITS, [`image: ${of.from}:`, `image: ${of.to}:`] as const];
  return {
    ...releasedProxy(of),
    provideArchive: async () => {
      await of.push();
      return undefined;
    },
    writeObjects: async (folder) => await writeManifests(folder, { ...of, edits }),
  };
}

type Edits = readonly (readonly [from: string, to: string])[];

async function writeManifests(
  folder: string,
  of: Released & { readonly edits: Edits },
): Promise<readonly string[]> {
  const file = join(folder, 'fairlead.yaml');
  const text = await readFile(join(of.release, `fairlead-${of.version}.yaml`), 'utf8');
  await writeFile(file, edited(text, of.edits));
  return ['-f', file];
}

function edited(text: string, edits: Edits): string {
  return edits.reduce((current, [from, to]) => {
    if (!current.includes(from)) throw new Error(`the manifests have no '${from}'`);
    return current.replaceAll(from, to);
  }, text);
}
