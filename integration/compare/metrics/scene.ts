import { paths } from '../../../lab/api/objects.ts';
import { deployDemo, untilReachable } from '../../../lab/commands/demo.ts';
import type { Progress } from '../../../lab/host/progress.ts';
import { until } from '../../../lab/host/until.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import { METRICS_PORT } from '../../../lab/proxies/kube-proxy-configuration.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';

export const NODE = 'node1';
const LOOPBACK = '127.0.0.1';
const HEALTH_PORT = 10256;
/** After an API server was replaced, controllers and watches come back after pauses of up to 30 s. */
const DEADLINE_MS = 120_000;
/** kube-proxy gathers changes for a second. */
const SYNC_MS = 3_000;
const FIRST_PORT = 7000;
const PROGRAMMED = /^kubeproxy_network_programming_duration_seconds_count\{.*\} (\d+)$/m;

/** A lab with one node, on which one proxy after the other is measured. */
export class Scene implements AsyncDisposable {
  readonly lab: Lab;
  readonly #progress: Progress;
  #serviceCount = 0;

  static async start(progress: Progress, signal: AbortSignal): Promise<Scene> {
    const lab = await startLab({ nodeCount: 1, progress, signal });
    return new Scene(lab, progress);
  }

  constructor(lab: Lab, progress: Progress) {
    this.lab = lab;
    this.#progress = progress;
  }

  /** Does something with a proxy that has synced, and ends it. */
  async with<T>(proxy: string, act: () => Promise<T>): Promise<T> {
    return await this.#progress.step(proxy, async () => {
      const daemons = await this.lab.startProxies(findProxy(proxy));
      try {
        await this.#demo();
        return await act();
      } finally {
        for (const daemon of daemons.values()) await daemon.stop();
      }
    });
  }

  async get(port: number, path: string): Promise<string> {
    const origin = { namespace: this.lab.namespacePath(NODE) };
    return (await httpGet(origin, { address: LOOPBACK, port, path })).body;
  }

  async metrics(): Promise<string> {
    return await this.get(METRICS_PORT, '/metrics');
  }

  /** As soon as the page has this, which it must. */
  async metricsWith(pattern: RegExp): Promise<string> {
    const read = async (): Promise<string | undefined> => {
      const text = await this.metrics();
      return pattern.test(text) ? text : undefined;
    };
    return await until(read, { what: `${pattern} in /metrics`, deadlineMs: DEADLINE_MS });
  }

  async probe(): Promise<void> {
    for (const path of ['/healthz', '/livez']) await this.get(HEALTH_PORT, path);
  }

  /**
   * One more Service: its creation is what the controllers note as the trigger of the slice. Resolves
   * when the proxy has counted that. A trigger has whole seconds, and one from before the start of the
   * proxy does not count, so the first may be in vain.
   */
  async addService(): Promise<void> {
    const before = await this.#programmed();
    const isCounted = async (): Promise<boolean> => {
      await this.#create({ selector: { app: 'web' }, ports: [{ port: 80 }] });
      const wait = { what: 'a Service to be programmed', deadlineMs: SYNC_MS };
      const isMore = async (): Promise<boolean> => (await this.#programmed()) > before;
      return await until(isMore, wait).catch(() => false);
    };
    await until(isCounted, { what: 'a Service to be programmed', deadlineMs: DEADLINE_MS });
  }

  /** Fairlead writes an Event about an external IP of the Service range, and does not serve it. */
  async addRejectedAddress(): Promise<void> {
    const port = FIRST_PORT + this.#serviceCount;
    await this.#create({ externalIPs: ['10.96.200.200'], ports: [{ port }] });
  }

  async #create(spec: object): Promise<void> {
    const name = `more-${++this.#serviceCount}`;
    await this.lab.api.create(paths.services('default'), { metadata: { name }, spec });
  }

  async #programmed(): Promise<number> {
    return Number(PROGRAMMED.exec(await this.metrics())?.[1] ?? 0);
  }

  async #demo(): Promise<void> {
    const known = await this.lab.api.find(paths.service('default', 'web'));
    if (known !== undefined) return;
    const service = await deployDemo(this.lab);
    await untilReachable({ lab: this.lab, service, hosts: [NODE] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lab[Symbol.asyncDispose]();
  }
}
