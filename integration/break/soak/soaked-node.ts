import type { Hammer } from '../faults/plane/connections.ts';
import { livingForwarder } from '../faults/plane/forwarder/forwarder.ts';
import { planeProxy } from '../faults/plane/plane-proxies.ts';
import type { PlaneScene } from '../faults/plane/plane-scene.ts';
import type { SoakResult } from './result.ts';
import { type Sample, Sampler } from './sample.ts';

const CLIENT_HANDS = 4;
const MS_PER_SECOND = 1_000;
const CONVERGE_DEADLINE_MS = 60_000;

/** One node of the soak, with clients of its own. */
export class SoakedNode {
  readonly mode: string;
  readonly scene: PlaneScene;
  readonly samples: Sample[] = [];
  #unanswered = 0;
  readonly #hammer: Hammer;
  readonly #sampler: Sampler;

  constructor(of: { readonly mode: string; readonly scene: PlaneScene; readonly hammer: Hammer }) {
    this.mode = of.mode;
    this.scene = of.scene;
    this.#hammer = of.hammer;
    const { scene } = of;
    const { hasForwarder } = planeProxy(scene.proxyName);
    this.#sampler = new Sampler({
      namespacePath: scene.namespacePath,
      pids: async () => [scene.proxy.pid, ...(hasForwarder ? [await livingForwarder(scene)] : [])],
    });
  }

  async start(connectionsPerSecond: number): Promise<void> {
    // The first one has everything since the start in its histogram.
    await this.#sampler.take();
    const everyMs = (CLIENT_HANDS * MS_PER_SECOND) / connectionsPerSecond;
    this.#hammer.start({ hands: CLIENT_HANDS, everyMs });
  }

  get hasEnded(): boolean {
    return this.scene.proxy.ended() !== undefined;
  }

  async sample(): Promise<void> {
    if (this.hasEnded) return;
    const sample = await this.#sampler.take();
    if (sample === undefined) this.#unanswered++;
    else this.samples.push(sample);
  }

  async stop(): Promise<void> {
    await this.#hammer.stop();
  }

  async result(of: Pick<SoakResult, 'minutes' | 'isLeakPlanted' | 'writes'>): Promise<SoakResult> {
    const hammer = this.#hammer;
    const ended = this.scene.proxy.ended();
    return {
      mode: this.mode,
      ...of,
      connections: {
        made: hammer.made.length,
        failed: hammer.failed().length,
        example: hammer.verdict(),
      },
      ...(ended === undefined ? {} : { ended }),
      differences: ended === undefined ? await this.#differencesLeft() : 0,
      samples: this.samples,
      unansweredSamples: this.#unanswered,
    };
  }

  async #differencesLeft(): Promise<number> {
    const { inside } = this.scene;
    return await inside.becomesRight('diff', CONVERGE_DEADLINE_MS).then(
      () => 0,
      async () => (await inside.ask('diff', {})).length,
    );
  }
}
