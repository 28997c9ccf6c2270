import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiClient } from '../../../../lab/api/client.ts';
import { type EndpointSlice, paths, type Service } from '../../../../lab/api/objects.ts';
import { API_PORT } from '../../../../lab/control-plane/credentials.ts';
import { LabError } from '../../../../lab/host/errors.ts';
import type { Origin } from '../../../../lab/host/sockets.ts';
import { until } from '../../../../lab/host/until.ts';
import { FABRIC } from '../../../../lab/network/plan.ts';
import type { FairleadMode } from '../../../../lab/proxies/fairlead-modes.ts';
import { ServerError } from '../../../../src/agent/servers/server-error.ts';
import { readStatus } from '../../../../src/agent/servers/status-client.ts';
import type { StatusPage } from '../../../../src/agent/status-page.ts';
import { STATUS_SOCKET } from '../../../../src/config/run-folder.ts';
import { NodeInside } from '../../faults/plane/node-inside.ts';
import { HOSTILE, NODE, NODE_INDEX } from '../names.ts';
import type { NeighbourScene } from '../scene.ts';
import type { Filled } from './filled.ts';

const SERVED_MS = 120_000;
const EMPTY_DEADLINE_MS = 120_000;
const GONE_DEADLINE_MS = 120_000;
/** More at once would only wait in the API server. */
const WRITERS = 6;
const HTTP_OK_BELOW = 300;
const NOT_FOUND = 404;

export interface TenantOptions {
  readonly scene: NeighbourScene;
  readonly mode: FairleadMode;
  /** The program of bench/, which sends datagrams. */
  readonly tool: string;
  readonly signal: AbortSignal;
}

/** The user of one namespace who fills a bound: writes by its own rights, and connects from its own pod. */
export class Tenant implements Disposable {
  readonly scene: NeighbourScene;
  readonly mode: FairleadMode;
  readonly tool: string;
  readonly signal: AbortSignal;
  readonly #api: ApiClient;
  readonly #inside: NodeInside;
  #endpointsBefore = 0;

  private constructor(options: TenantOptions, api: ApiClient) {
    const { scene, mode, tool, signal } = options;
    this.scene = scene;
    this.mode = mode;
    this.tool = tool;
    this.signal = signal;
    this.#api = api;
    const { configPath, runFolder } = scene;
    this.#inside = new NodeInside({ namespacePath: this.nodePath, configPath, runFolder });
  }

  static async admit(options: TenantOptions): Promise<Tenant> {
    const { lab, hostileToken: token } = options.scene;
    const authority = await readFile(lab.credentials.certificateAuthorityFile, 'utf8');
    const api = new ApiClient({
      namespacePath: lab.namespacePath('fabric'),
      address: FABRIC.ipv4,
      port: API_PORT,
      token,
      certificateAuthority: authority,
    });
    const tenant = new Tenant(options, api);
    tenant.#endpointsBefore = (await tenant.status())?.contents?.endpoints ?? 0;
    return tenant;
  }

  /** Undefined: the agent did not answer. */
  async status(): Promise<StatusPage | undefined> {
    const socketPath = join(this.scene.runFolder, STATUS_SOCKET);
    try {
      return (await readStatus({ socketPath })) as StatusPage;
    } catch (error) {
      if (error instanceof ServerError) return undefined;
      throw error;
    }
  }

  get nodePath(): string {
    return this.scene.lab.namespacePath(NODE);
  }

  /** Its pod, with the control group of the node for modes that serve sockets. */
  get from(): Pick<Origin, 'namespace' | 'group'> {
    const group = this.scene.lab.socketGroup(NODE_INDEX);
    return { namespace: this.scene.hostilePod.namespacePath, group };
  }

  /** Resolves to the ClusterIP. */
  async service(name: string, spec: object, annotations: object = {}): Promise<string> {
    const made = await this.#api.create<Service>(paths.services(HOSTILE), {
      metadata: { name, annotations },
      spec,
    });
    return made.spec.clusterIP ?? '';
  }

  /** Slices of one Service: more than one writer at once. */
  async slices(service: string, slices: readonly object[]): Promise<void> {
    const labels = { 'kubernetes.io/service-name': service };
    await this.inParallel(slices.length, async (index) => {
      const metadata = { name: `${service}-${index}`, labels };
      await this.#api.create(paths.slices(HOSTILE), { metadata, ...slices[index] });
    });
  }

  async inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
    let next = 0;
    const writer = async (): Promise<void> => {
      while (next < count) {
        this.signal.throwIfAborted();
        await work(next++);
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, writer));
  }

  /**
   * Waits until the agent has so many endpoints besides those of others, and nothing waits. Resolves to
   * what is missing at the deadline: then a victim is asked all the same.
   */
  async served(endpoints: number): Promise<Pick<Filled, 'notFull'>> {
    const atLeast = this.#endpointsBefore + endpoints;
    const giveUpAtMs = performance.now() + SERVED_MS;
    const served = async (): Promise<Pick<Filled, 'notFull'> | undefined> => {
      const page = await this.status();
      const { synced, unpaced } = page?.conditions ?? {};
      const isAll = (page?.contents?.endpoints ?? 0) >= atLeast;
      if (synced?.isTrue && unpaced?.isTrue && isAll) return {};
      if (performance.now() < giveUpAtMs) return undefined;
      return { notFull: unpaced?.isTrue === false ? unpaced.why : (synced?.why ?? 'no status') };
    };
    const what = `${atLeast.toLocaleString('en')} endpoints to be written`;
    return await until(served, { what, deadlineMs: 2 * SERVED_MS, signal: this.signal });
  }

  /** Deletes everything that it wrote; resolves with the time until the kernel has none of it. */
  async deleteAll(): Promise<number> {
    for (const path of [paths.services(HOSTILE), paths.slices(HOSTILE)]) {
      const { items } = await this.#api.list<Service | EndpointSlice>(path);
      await this.inParallel(items.length, async (index) => {
        const name = items[index]?.metadata.name ?? '';
        const request = { method: 'DELETE', path: `${path}/${name}`, body: '{}' } as const;
        const { status, text } = await this.#api.raw(request);
        if (status >= HTTP_OK_BELOW && status !== NOT_FOUND) {
          throw new LabError('LAB_API', `${path}/${name} was not deleted: ${text}`, {
            next: 'read the log of the API server',
          });
        }
      });
    }
    const isGone = async (): Promise<boolean> =>
      (await this.#api.list(paths.slices(HOSTILE))).items.length === 0;
    await until(isGone, { what: 'the slices to go', deadlineMs: GONE_DEADLINE_MS });
    return await this.#inside.becomesRight('diff', EMPTY_DEADLINE_MS);
  }

  [Symbol.dispose](): void {
    this.#inside[Symbol.dispose]();
    this.#api[Symbol.dispose]();
  }
}
