import { join } from 'node:path';
import { terminalProgress } from '../../lab/host/progress.ts';
import { CILIUM_VERSION, provideCilium } from '../../lab/parts/cilium.ts';
import type { GoBuildContext } from '../../lab/parts/go-build.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import { MAP_ENTRIES } from './map-entries.ts';

const SCRIPT = join(import.meta.dirname, 'load-balancer.sh');

/** The part of Cilium that does what a proxy's agent does: from the API server to maps, without programs. */
export function ciliumLoadBalancer(): ProxyVariant {
  const provide = (context: GoBuildContext): Promise<string> =>
    provideCilium('cilium-load-balancer', context);
  return {
    name: 'cilium-load-balancer',
    description: `control plane for load balancing of Cilium ${CILIUM_VERSION}`,
    build: provide,
    async prepare({ folder, credentials }) {
      const program = await provide({ progress: terminalProgress() });
      const kubeconfig = `--k8s-kubeconfig-path=${credentials.adminKubeconfig}`;
      const entries = `--bpf-lb-map-max=${MAP_ENTRIES}`;
      return { argv: [SCRIPT, folder, program, kubeconfig, entries], env: {} };
    },
    // It answers nothing but the lines of its input.
    synced: async () => true,
  };
}
