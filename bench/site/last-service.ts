import { paths, type Service } from '../../lab/api/objects.ts';
import type { Destination } from '../../lab/host/sockets.ts';
import type { Pod } from '../../lab/kubelet/pods.ts';
import type { Lab } from '../../lab/lab.ts';

/** The last in the order of names, behind all that was loaded. */
const NAMESPACE = 'zz-last';
const NAME = 'zz-last';
const SERVE_PORT = 8080;
const SERVICE_PORT = 80;

/** A Service among the thousands that really answers: by one of two pods, whichever its slice names. */
export class LastService {
  readonly #lab: Lab;
  readonly #pods: readonly [Pod, Pod];
  readonly to: Destination;
  #serving: 0 | 1 = 0;

  private constructor(lab: Lab, pods: readonly [Pod, Pod], to: Destination) {
    this.#lab = lab;
    this.#pods = pods;
    this.to = to;
  }

  static async create(lab: Lab): Promise<LastService> {
    await lab.api.create(paths.namespaces, { metadata: { name: NAMESPACE } });
    const pods = [await runPod(lab, 'one'), await runPod(lab, 'other')] as const;
    const ports = [{ name: 'http', protocol: 'TCP', port: SERVICE_PORT, targetPort: SERVE_PORT }];
    const service = await lab.api.create<Service>(paths.services(NAMESPACE), {
      metadata: { name: NAME },
      spec: { ports },
    });
    const labels = {
      'kubernetes.io/service-name': NAME,
      'endpointslice.kubernetes.io/managed-by': 'scale',
    };
    await lab.api.create(paths.slices(NAMESPACE), {
      metadata: { name: NAME, labels },
      addressType: 'IPv4',
      endpoints: [endpointOf(pods[0])],
      ports: [{ name: 'http', protocol: 'TCP', port: SERVE_PORT }],
    });
    const address = service.spec.clusterIP ?? '';
    return new LastService(lab, pods, { address, port: SERVICE_PORT });
  }

  /** Lets the other pod serve; gives its name at once, and when the API server had taken it. */
  turn(): { who: string; written: Promise<number> } {
    this.#serving = this.#serving === 0 ? 1 : 0;
    const pod = this.#pods[this.#serving];
    const written = this.#lab.api
      .patch(paths.slice(NAMESPACE, NAME), { endpoints: [endpointOf(pod)] })
      .then(() => performance.now());
    return { who: pod.spec.name, written };
  }
}

async function runPod(lab: Lab, name: string): Promise<Pod> {
  return await lab.pods.run({
    namespace: NAMESPACE,
    name,
    nodeIndex: 1,
    labels: {},
    ports: [{ name: 'http', port: SERVE_PORT, protocol: 'TCP' }],
    ready: true,
    hostNetwork: false,
    server: 'own',
  });
}

function endpointOf(pod: Pod): object {
  return {
    addresses: [pod.address.ipv4],
    nodeName: 'node1',
    conditions: { ready: true, serving: true, terminating: false },
  };
}
