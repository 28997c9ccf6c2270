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

/** One Service with a thousand endpoints, all of which are replaced by others, some at a time. */
export class RollingService {
  readonly #lab: Lab;
  #generation = 0;

  private constructor(lab: Lab) {
    this.#lab = lab;
  }

  static async create(lab: Lab): Promise<RollingService> {
    const ports = [{ name: 'http', protocol: 'TCP', port: SERVICE_PORT, targetPort: SERVE_PORT }];
    await lab.api.create(paths.services(NAMESPACE), {
      metadata: { name: NAME },
      spec: { clusterIP: CLUSTER_IPS.rolling, ports },
    });
    for (let slice = 0; slice < SLICES; slice++) {
      await lab.api.create(paths.slices(NAMESPACE), {
        metadata: { name: `${NAME}-${slice}`, labels: sliceLabels(NAME) },
        addressType: 'IPv4',
        endpoints: endpointsOf(slice, () => 0),
        ports: [{ name: 'http', protocol: 'TCP', port: SERVE_PORT }],
      });
    }
    return new RollingService(lab);
  }

  /** Replaces all of them; gives how many writes it took. */
  async roll(signal: AbortSignal): Promise<number> {
    const [from, to] = [this.#generation, ++this.#generation];
    let writes = 0;
    for (let slice = 0; slice < SLICES; slice++) {
      for (let done = ENDPOINTS_PER_WRITE; done <= ENDPOINTS_PER_SLICE; ) {
        signal.throwIfAborted();
        const endpoints = endpointsOf(slice, (index) => (index < done ? to : from));
        await this.#lab.api.patch(paths.slice(NAMESPACE, `${NAME}-${slice}`), { endpoints });
        writes++;
        done += ENDPOINTS_PER_WRITE;
      }
    }
    return writes;
  }
}

/** Addresses that nobody has, of pod networks that the lab does not have. */
function endpointsOf(slice: number, generationOf: (index: number) => number): object[] {
  return Array.from({ length: ENDPOINTS_PER_SLICE }, (_, index) =>
    readyEndpoint(`10.${240 + slice}.${generationOf(index) % 256}.${index}`, 'elsewhere-a'),
  );
}
