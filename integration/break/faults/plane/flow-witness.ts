import { enterNamespace } from '../../../../lab/host/namespaces.ts';
import { tryRun } from '../../../../lab/host/run.ts';
import { until } from '../../../../lab/host/until.ts';
import { must } from './plane-fault.ts';
import type { PlaneScene } from './plane-scene.ts';
import { clientOf, targetOf } from './planned-flows.ts';
import type { FlowPlan } from './questions.ts';

const NAME = 'witness';
const PORT = 53;
const FLOWS = 400;
/** Clients of planned flows only. */
const CLIENTS = ['--orig-src', clientOf(0), '--mask-src', '255.255.0.0'] as const;
const DELETE_OLD = ['conntrack', '-D', '-p', 'udp', ...CLIENTS] as const;
const ENDPOINTS = ['10.201.7.1', '10.201.7.2'] as const;

/** Flows that another row has made, without the kernel's mark of a translation. */
export async function removePlannedFlows(namespacePath: string): Promise<void> {
  // It ends with 1 when there is nothing to delete.
  await tryRun(enterNamespace(namespacePath, [...DELETE_OLD]));
}

/** UDP flows of a Service that loses one endpoint during a fault. */
export class FlowWitness {
  readonly #scene: PlaneScene;
  readonly #plan: FlowPlan;
  #before: Readonly<Record<string, number>> = {};

  private constructor(scene: PlaneScene, plan: FlowPlan) {
    this.#scene = scene;
    this.#plan = plan;
  }

  static async make(scene: PlaneScene): Promise<FlowWitness> {
    const address = await scene.service(NAME, { protocol: 'UDP', port: PORT });
    const plan = { count: FLOWS, services: [{ address, endpoints: ENDPOINTS }] };
    const witness = new FlowWitness(scene, plan);
    await witness.#renew();
    return witness;
  }

  /** Its flows become stale. */
  async loseEndpoint(): Promise<void> {
    await this.#scene.setEndpoints(NAME, ENDPOINTS.slice(0, 1));
  }

  /** Resolves when the stale flows and no others are deleted, and restores both endpoints. */
  async onlyStaleGone(deadlineMs: number): Promise<void> {
    const indexes = Array.from({ length: FLOWS }, (_, index) => index);
    const kept = indexes.filter((index) => targetOf(this.#plan, index).endpoint !== ENDPOINTS[1]);
    const areGone = async (): Promise<Readonly<Record<string, number>> | undefined> => {
      const found = await this.#scene.inside.ask('flows', { plan: this.#plan });
      return Object.keys(found).length <= kept.length ? found : undefined;
    };
    const what = `${FLOWS - kept.length} stale flows to be deleted`;
    const after = await until(areGone, { what, deadlineMs });
    const changed = kept.filter((at) => after[clientOf(at)] !== this.#before[clientOf(at)]);
    must(
      changed.length === 0,
      `${changed.length} flows that were not stale were deleted or replaced`,
    );
    await this.#renew();
  }

  async #renew(): Promise<void> {
    const { inside } = this.#scene;
    await this.#scene.setEndpoints(NAME, ENDPOINTS);
    await inside.becomesRight('diff', 60_000);
    await removePlannedFlows(this.#scene.namespacePath);
    await inside.ask('insertFlows', { plan: this.#plan });
    this.#before = await inside.ask('flows', { plan: this.#plan });
    const count = Object.keys(this.#before).length;
    must(count === FLOWS, `${count} flows were made, not ${FLOWS}`);
  }
}
