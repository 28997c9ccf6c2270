import { paths } from '../../lab/api/objects.ts';
import type { Destination } from '../../lab/host/sockets.ts';
import type { Pod } from '../../lab/kubelet/pods.ts';
import type { Lab } from '../../lab/lab.ts';
import {
  CLUSTER_IPS,
  NAMESPACE,
  readyEndpoint,
  SERVE_PORT,
  SERVICE_PORT,
  sliceLabels,
} from './names.ts';

const NAME = 'zz-last';

/** A Service among the thousands that really answers: by one of two pods, whichever its slice names. */
export class LastService {
  readonly to: Destination = { address: CLUSTER_IPS.last, port: SERVICE_PORT };
  readonly #lab: Lab;
  readonly #pods: readonly [Pod, Pod];
  #serving: 0 | 1 = 0;

  private constructor(lab: Lab, pods: readonly [Pod, Pod]) {
    this.#lab = lab;
    this.#pods = pods;
  }

  static async create(lab: Lab): Promise<LastService> {
    const pods = [await runPod(lab, 'one'), await runPod(lab, 'other')] as const;
    const ports = [{ name: 'http', protocol: 'TCP', port: SERVICE_PORT, targetPort: SERVE_PORT }];
    await lab.api.create(paths.services(NAMESPACE), {
      metadata: { name: NAME },
      spec: { clusterIP: CLUSTER_IPS.last, ports },
    });
    await lab.api.create(paths.slices(NAMESPACE), {
      metadata: { name: NAME, labels: sliceLabels(NAME) },
      addressType: 'IPv4',
      endpoints: [readyEndpoint(pods[0].address.ipv4)],
      ports: [{ name: 'http', protocol: 'TCP', port: SERVE_PORT }],
    });
    return new LastService(lab, pods);
  }

  /** The address of a pod that answers, for Services of others. */
  get answeringAddress(): string {
    return this.#pods[0].address.ipv4;
  }

  /** Lets the other pod serve; gives its name at once, and when the API server had taken it. */
  turn(): { who: string; written: Promise<number> } {
    this.#serving = this.#serving === 0 ? 1 : 0;
    const pod = this.#pods[this.#serving];
    const written = this.#lab.api
      .patch(paths.slice(NAMESPACE, NAME), { endpoints: [readyEndpoint(pod.address.ipv4)] })
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
