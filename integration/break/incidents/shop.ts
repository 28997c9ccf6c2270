import type { Pod, PodPort, PodSpec } from '../../../lab/kubelet/pods.ts';
import type { Lab } from '../../../lab/lab.ts';

/** The shop: a Service with a pod on each node, and what incidents add to it. */
export const NAMESPACE = 'shop';
export const CART = 'cart-6f4d';
/** As `--from` takes it. */
export const FROM_CART = `--from pod:${NAMESPACE}/${CART}`;
export const WEB = '10.96.50.1';
export const NODE_PORT = 30_080;
const SERVED: readonly PodPort[] = [
  { name: 'http', port: 8080, protocol: 'TCP' },
  { name: 'udp', port: 8080, protocol: 'UDP' },
];

export function webService(): object {
  return {
    metadata: { name: 'web' },
    spec: {
      type: 'NodePort',
      clusterIP: WEB,
      selector: { app: 'web' },
      ports: [
        { name: 'http', port: 80, targetPort: 'http', nodePort: NODE_PORT },
        { name: 'udp', port: 80, targetPort: 'udp', protocol: 'UDP' },
      ],
    },
  };
}

export interface ShopPod extends Partial<Pick<PodSpec, 'ports' | 'ready' | 'fault'>> {
  readonly name: string;
  readonly node: 1 | 2;
  readonly labels: Readonly<Record<string, string>>;
}

export async function runPod(lab: Lab, { name, node, labels, ...more }: ShopPod): Promise<Pod> {
  return await lab.pods.run({
    namespace: NAMESPACE,
    name,
    nodeIndex: node,
    labels,
    ports: SERVED,
    ready: true,
    hostNetwork: false,
    server: 'own',
    ...more,
  });
}
