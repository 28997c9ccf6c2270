import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KUBERNETES_VERSION } from '../../parts/build.ts';
import {
  FAIRLEAD_MODES,
  isSharedMode,
  kernelPartsOf,
  type SharedMode,
} from '../../proxies/fairlead-modes.ts';
import { provideImage } from '../images/archive.ts';
import { kubeProxyImage } from '../images/catalogue.ts';
import type { RealProxy } from './contract.ts';
import { kubeProxyObjects } from './kubeadm.ts';

const IMAGE = `fairlead.test/kube-proxy:${KUBERNETES_VERSION}`;
/** By which the manifests of an operator call it. */
const RELEASED_IMAGE = `registry.k8s.io/kube-proxy:${KUBERNETES_VERSION}`;

/** Without a mode that needs more of the kernel than real nodes do: its image has no ipset. */
export const UPSTREAM_PROXIES: readonly RealProxy[] = FAIRLEAD_MODES.filter(isSharedMode)
  .filter((mode) => kernelPartsOf(mode).length === 0)
  .map(upstream);

function upstream(mode: SharedMode): RealProxy {
  return {
    name: `upstream-${mode}`,
    description: `kube-proxy ${KUBERNETES_VERSION}, ${mode} mode`,
    isUpstream: true,
    // See the same word in lab/proxies/upstream.ts.
    mayMissZoneAtStart: true,
    provideArchive: ({ parts }) =>
      provideImage(kubeProxyImage([IMAGE, RELEASED_IMAGE], parts['kube-proxy'])),
    async writeObjects(folder) {
      const file = join(folder, 'kube-proxy.json');
      const items = kubeProxyObjects({ image: IMAGE, mode });
      await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2));
      return ['-f', file];
    },
  };
}
