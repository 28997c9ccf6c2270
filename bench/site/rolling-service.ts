import { paths } from '../../lab/api/objects.ts';
import type { Lab } from '../../lab/lab.ts';
import {
  CLUSTER_IPS,
  NAMESPACE,
  readyEndpoint,
  SERVE_PORT,
  SERVICE_PORT,
  sliceLabels,
} from './names.ts';

const NAME = 'rolling';
const SLICES = 10;
const ENDPOINTS_PER_SLICE = 100;
/** Replaced by one write: as a Deployment of a thousand pods with a surge of one percent. */
const ENDPOINTS_PER_WRITE = 10;

/**
 * One Service with a thousand endpoints, all of which are replaced by others, some at a time. It is
 * there only while it is needed: in a small cluster it would be most of what there is.
 */
export class RollingService {
  readonly #lab: Lab;
  #generation = 0;
  #exists = false;

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  async create(): Promise<void> {
    const { api } = this.#lab;
    const ports = [{ name: 'http', protocol: 'TCP', port: SERVICE_PORT, targetPort: SERVE_PORT }];
    this.#exists = true;
    await api.create(paths.services(NAMESPACE), {
      metadata: { name: NAME },
      spec: { clusterIP: CLUSTER_IPS.rolling, ports },
    });
    for (let slice = 0; slice < SLICES; slice++) {
      await api.create(paths.slices(NAMESPACE), {
        metadata: { name: sliceName(slice), labels: sliceLabels(NAME) },
        addressType: 'IPv4',
        endpoints: endpointsOf(slice, () => this.#generation),
        ports: [{ name: 'http', protocol: 'TCP', port: SERVE_PORT }],
      });
    }
  }

  async remove(): Promise<void> {
    if (!this.#exists) return;
    this.#exists = false;
    const { api } = this.#lab;
    await api.delete(paths.service(NAMESPACE, NAME));
    for (let slice = 0; slice < SLICES; slice++) {
      await api.delete(paths.slice(NAMESPACE, sliceName(slice)));
    }
  }

  /** Replaces all of them; gives how many writes it took. */
  async roll(signal: AbortSignal): Promise<number> {
    const [from, to] = [this.#generation, ++this.#generation];
    let writes = 0;
    for (let slice = 0; slice < SLICES; slice++) {
      for (let done = ENDPOINTS_PER_WRITE; done <= ENDPOINTS_PER_SLICE; ) {
        signal.throwIfAborted();
        const endpoints = endpointsOf(slice, (index) => (index < done ? to : from));
        await this.#lab.api.patch(paths.slice(NAMESPACE, sliceName(slice)), { endpoints });
        writes++;
        done += ENDPOINTS_PER_WRITE;
      }
    }
    return writes;
  }
}

function sliceName(slice: number): string {
  return `${NAME}-${slice}`;
}

/** Unused addresses, of pod networks that the lab does not have. */
function endpointsOf(slice: number, generationOf: (index: number) => number): object[] {
  return Array.from({ length: ENDPOINTS_PER_SLICE }, (_, index) =>
    readyEndpoint(`10.${240 + slice}.${generationOf(index) % 256}.${index}`, 'elsewhere-a'),
  );
}
