import type { PlantedText } from '../../../lab/host/plant.ts';
import type { PlaneFault } from '../faults/plane/plane-fault.ts';
import type { PlaneScene } from '../faults/plane/plane-scene.ts';

/** A mistake that a forwarder on sockets makes easily, and the fault that must show it. */
export interface Trap {
  readonly name: string;
  /** What is planted, in a sentence for the table. */
  readonly title: string;
  /** What the forwarder, or the agent, does instead. */
  readonly planted: readonly (Omit<PlantedText, 'name'> & { readonly in: 'forwarder' | 'agent' })[];
  /** What is undone on the node once it serves. */
  readonly act?: (scene: PlaneScene) => Promise<void>;
  readonly caughtBy: PlaneFault;
}

export interface TrapResult {
  readonly trap: Trap;
  /** Undefined: the fault was survived, so nothing caught the trap. */
  readonly failure: string | undefined;
}
