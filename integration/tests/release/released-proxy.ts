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

/** The files of a release, used as its reader would use them. */
export function releasedProxy(of: {
  readonly release: string;
  readonly version: string;
}): RealProxy {
  const { release, version } = of;
  return {
    name: `fairlead-${version}`,
    description: `Fairlead ${version} from the files of its release`,
    isUpstream: false,
    mayMissZoneAtStart: false,
    provideArchive: async () => join(release, `fairlead-${version}-image.tar`),
    writeObjects: async (folder) => {
      const file = join(folder, 'fairlead.yaml');
      await writeFile(
        file,
        edited(await readFile(join(release, `fairlead-${version}.yaml`), 'utf8')),
      );
      return ['-f', file];
    },
  };
}

function edited(text: string): string {
  return EDITS.reduce((current, [from, to]) => {
    if (!current.includes(from)) throw new Error(`the manifests have no '${from}'`);
    return current.replace(from, to);
  }, text);
}
