import { until } from '../../../../lab/host/until.ts';
import type { FailurePlan } from './failures.ts';
import type { PlaneScene } from './plane-scene.ts';
import type { ProxyReport } from './questions.ts';

const SYNC_DEADLINE_MS = 120_000;

/** The node served by the helper inside it, instead of by a process of its own. */
export class OwnProxyRun implements AsyncDisposable {
  readonly #scene: PlaneScene;

  constructor(scene: PlaneScene) {
    this.#scene = scene;
  }

  async start(failures: FailurePlan = { share: 0, failing: 'netlink' }): Promise<void> {
    await this.#scene.proxy.stop();
    await this.#scene.inside.ask('startProxy', { failures });
    await this.synced();
  }

  async report(service = ''): Promise<ProxyReport> {
    return await this.#scene.inside.ask('proxy', { service });
  }

  async synced(): Promise<void> {
    const isSynced = async (): Promise<boolean> => (await this.report()).isSynced;
    const what = 'the proxy inside the node to sync';
    await until(isSynced, { what, deadlineMs: SYNC_DEADLINE_MS });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scene.inside.ask('stopProxy', {});
  }
}
