import type { ApiClient, ApiRequest } from '../../../../lab/api/client.ts';
import { paths } from '../../../../lab/api/objects.ts';
import { LabError } from '../../../../lab/host/errors.ts';
import { HOSTILE, type Limits } from '../names.ts';
import type { Random } from './random.ts';

const MERGE = 'application/merge-patch+json';
const ALREADY_EXISTS = 409;

/** What the writes of one attack came to. */
export interface Tally {
  accepted: number;
  rejected: number;
  unanswered: number;
  /** The first rejection, for the report. */
  firstRejection?: string;
}

/** The hostile user at the API server: writes anything, and continues after rejections. */
export class Attacker {
  readonly random: Random;
  readonly limits: Limits;
  tally: Tally = { accepted: 0, rejected: 0, unanswered: 0 };
  readonly #api: ApiClient;

  constructor(of: { api: ApiClient; random: Random; limits: Limits }) {
    this.#api = of.api;
    this.random = of.random;
    this.limits = of.limits;
  }

  async createService(name: string, spec: object, annotations: object = {}): Promise<void> {
    await this.#send('POST', paths.services(HOSTILE), { metadata: { name, annotations }, spec });
  }

  async patchService(name: string, spec: object): Promise<void> {
    await this.#send('PATCH', paths.service(HOSTILE, name), { spec });
  }

  async annotateService(name: string, annotations: object): Promise<void> {
    await this.#send('PATCH', paths.service(HOSTILE, name), { metadata: { annotations } });
  }

  async setIngress(name: string, addresses: readonly string[]): Promise<void> {
    const ingress = addresses.map((ip) => ({ ip }));
    const status = { loadBalancer: { ingress } };
    await this.#send('PATCH', `${paths.service(HOSTILE, name)}/status`, { status });
  }

  async deleteService(name: string): Promise<void> {
    await this.#send('DELETE', paths.service(HOSTILE, name), {});
  }

  async createSlice(of: {
    name: string;
    service: string;
    endpoints: readonly object[];
    ports: readonly object[];
  }): Promise<void> {
    const labels = { 'kubernetes.io/service-name': of.service };
    const { name, endpoints, ports } = of;
    const slice = { metadata: { name, labels }, addressType: 'IPv4', endpoints, ports };
    await this.#send('POST', paths.slices(HOSTILE), slice);
  }

  async patchSlice(name: string, endpoints: readonly object[]): Promise<void> {
    await this.#send('PATCH', paths.slice(HOSTILE, name), { endpoints });
  }

  async deleteSlice(name: string): Promise<void> {
    await this.#send('DELETE', paths.slice(HOSTILE, name), {});
  }

  async #send(method: ApiRequest['method'], path: string, object: object): Promise<void> {
    const contentType = method === 'PATCH' ? MERGE : 'application/json';
    const request = { method, path, contentType, body: JSON.stringify(object) };
    try {
      const { status, text } = await this.#api.raw(request);
      if (status < 300 || (method === 'POST' && status === ALREADY_EXISTS)) this.tally.accepted++;
      else {
        this.tally.rejected++;
        this.tally.firstRejection ??= `${method} ${path}: ${status} ${text.slice(0, 200)}`;
      }
    } catch (error) {
      // The hostile user has overloaded the server: that is its aim, and it continues.
      if (!(error instanceof LabError) || error.code !== 'LAB_API_SILENT') throw error;
      this.tally.unanswered++;
    }
  }
}

/** Runs the same work in a number of concurrent writers until the time is over. */
export async function inParallel(
  workers: number,
  signal: AbortSignal,
  work: (worker: number) => Promise<void>,
): Promise<void> {
  const one = async (worker: number): Promise<void> => {
    while (!signal.aborted) await work(worker);
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => one(worker)));
}
