import type { ApiClient } from '../../../../lab/api/client.ts';
import { paths } from '../../../../lab/api/objects.ts';

/** Services of the load whose endpoints change; changes of the other faults come before them. */
const FIRST = 100;
const SERVICES = 200;
const SERVICES_PER_NAMESPACE = 100;
const TURN_EVERY = 5;

/** Changes endpoints of many Services through the API, all the time but when paused. */
export class ChangeLoad {
  readonly #api: ApiClient;
  readonly #turn: (count: number) => Promise<void>;
  #isWanted = false;
  #running: Promise<void> = Promise.resolve();
  changeCount = 0;

  /** `turn` is called from time to time, to change something else. */
  constructor(api: ApiClient, turn: (count: number) => Promise<void> = async () => undefined) {
    this.#api = api;
    this.#turn = turn;
  }

  resume(): void {
    this.#isWanted = true;
    this.#running = this.#run();
  }

  /** Resolves when the last change has been taken by the API server. */
  async pause(): Promise<void> {
    this.#isWanted = false;
    await this.#running;
  }

  async change(): Promise<void> {
    const serial = this.changeCount++;
    if (serial % TURN_EVERY === 0) await this.#turn(serial / TURN_EVERY);
    const index = FIRST + (serial % SERVICES);
    const namespace = `load-${Math.floor(index / SERVICES_PER_NAMESPACE)}`;
    const slice = `svc-${String(index).padStart(5, '0')}-0`;
    // A number of endpoints that changes as well, so that elements come and go.
    const addresses = Array.from({ length: 1 + (serial % 4) }, (_, at) => {
      const host = serial * 4 + at;
      return `10.200.${(host >> 8) & 255}.${host & 255}`;
    });
    const endpoints = addresses.map((address) => ({
      addresses: [address],
      conditions: { ready: true },
    }));
    await this.#api.patch(paths.slice(namespace, slice), { endpoints });
  }

  async #run(): Promise<void> {
    while (this.#isWanted) await this.change();
  }
}
