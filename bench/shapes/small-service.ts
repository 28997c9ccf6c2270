import type { ApiClient } from '../../lab/api/client.ts';
import { paths } from '../../lab/api/objects.ts';
import { readyEndpoint } from '../site/names.ts';
import type { Replaceable } from './replaced-endpoint.ts';
import { BACKGROUND } from './shapes.ts';

/** The first of the loaded Services, in a namespace that the large one is not in. */
const NAMESPACE = 'load-0';
const SLICE = 'svc-00000-0';

/** A Service of the small cluster, changed in the same way as the large one. */
export class SmallService implements Replaceable {
  readonly #api: ApiClient;
  readonly #others: readonly object[];

  constructor(api: ApiClient) {
    this.#api = api;
    const rest = BACKGROUND.endpointsPerService - 1;
    this.#others = Array.from({ length: rest }, (_, index) =>
      readyEndpoint(`10.229.0.${index + 1}`, 'elsewhere-a'),
    );
  }

  async replace(address: string): Promise<void> {
    await this.#patch([readyEndpoint(address, 'elsewhere-a'), ...this.#others]);
  }

  async restore(): Promise<void> {
    await this.#patch([readyEndpoint('10.229.0.0', 'elsewhere-a'), ...this.#others]);
  }

  async #patch(endpoints: readonly object[]): Promise<void> {
    await this.#api.patch(paths.slice(NAMESPACE, SLICE), { endpoints });
  }
}
