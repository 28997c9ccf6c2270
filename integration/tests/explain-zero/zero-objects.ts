import { paths } from '../../../lab/api/objects.ts';
import type { Lab } from '../../../lab/lab.ts';

const NAMESPACE = 'default';
const SERVICE_LABEL = 'kubernetes.io/service-name';

type Parts = Readonly<Record<string, unknown>>;

interface PodParts {
  /** Default: its name without the number. */
  readonly app?: string;
  /** Undefined: no node has it. */
  readonly node?: string;
  readonly ip?: string;
  readonly status?: Parts;
  readonly container?: Parts;
}

const READY = [{ type: 'Ready', status: 'True' }];
const UNREADY = [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }];

/** Objects of the API server whose pods have no process: only what is said of them counts. */
export class ZeroObjects {
  readonly #lab: Lab;

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  async service(name: string, spec: Parts): Promise<void> {
    const ports = [{ name: 'http', port: 80, targetPort: 'http' }];
    await this.#lab.api.create(paths.services(NAMESPACE), {
      metadata: { name },
      spec: { ports, ...spec },
    });
  }

  async slice(
    name: string,
    of: { readonly service: string; readonly port: string; readonly endpoints: readonly Parts[] },
  ): Promise<void> {
    await this.#lab.api.create(paths.slices(NAMESPACE), {
      metadata: { name, labels: { [SERVICE_LABEL]: of.service } },
      addressType: 'IPv4',
      ports: [{ name: of.port, port: 8080, protocol: 'TCP' }],
      endpoints: of.endpoints,
    });
  }

  /** An Endpoints object that the cluster is told not to mirror. */
  async legacy(name: string): Promise<void> {
    await this.#lab.api.create(`/api/v1/namespaces/${NAMESPACE}/endpoints`, {
      metadata: { name, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: '10.244.9.9' }], ports: [{ name: 'http', port: 8080 }] }],
    });
  }

  /** A pod that is ready, unless its parts say otherwise. */
  async pod(name: string, parts: PodParts = {}): Promise<void> {
    const { app = name.replace(/-\d+$/, ''), node, ip, status, container } = parts;
    const { api } = this.#lab;
    const ports = [{ name: 'http', containerPort: 8080 }];
    await api.create(paths.pods(NAMESPACE), {
      metadata: { name, labels: { app } },
      spec: {
        ...(node === undefined ? {} : { nodeName: node }),
        containers: [{ name: 'app', image: 'localhost/app', ports, ...container }],
      },
    });
    const addresses = ip === undefined ? {} : { podIP: ip, podIPs: [{ ip }] };
    const said = { phase: 'Running', conditions: READY, ...status };
    await api.patch(`${paths.pod(NAMESPACE, name)}/status`, { status: { ...said, ...addresses } });
  }

  /** It goes on until a kubelet says that its containers have ended, and there is none. */
  async ending(name: string, parts: PodParts): Promise<void> {
    await this.pod(name, { ...parts, status: { conditions: UNREADY } });
    await this.#lab.api.delete(paths.pod(NAMESPACE, name));
  }

  async deployment(name: string, replicas: number): Promise<void> {
    const labels = { app: name };
    await this.#lab.api.create(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`, {
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'app', image: 'localhost/app' }] },
        },
      },
    });
  }
}

/** One container and what the kubelet says of it. */
export function unready(state: Parts, more: Parts = {}): Parts {
  const container = { name: 'app', ready: false, restartCount: 3, image: '', imageID: '' };
  return {
    phase: 'Running',
    conditions: UNREADY,
    containerStatuses: [{ ...container, state, ...more }],
  };
}

export function unscheduled(message: string): Parts {
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
  return { phase: 'Pending', conditions: [condition] };
}
