import { setTimeout as pause } from 'node:timers/promises';
import { answeredByAtMs, type Waiting } from '../../../../bench/control/asker.ts';
import { type KernelWatch, monotonicMs } from '../../../../bench/shapes/kernel-watch.ts';
import type { Pod } from '../../../../lab/kubelet/pods.ts';

/** One change of the victim, on the monotonic clock. Infinity: not before its deadline. */
export interface VictimChange {
  readonly sentAtMs: number;
  /** Until the API server had answered the write. */
  readonly writtenMs: number;
  /** Until it had sent the change to a client that only listens. */
  readonly toldMs: number;
  /** From there on until the kernel had it: what the proxy takes. */
  readonly heldMs: number;
  /** From the write to the first connection that reaches the new endpoint. */
  readonly wholeMs: number;
}

const EVERY_MS = 250;
const DEADLINE_MS = 30_000;
/** The asker has its own clock: both run at the same rate. */
const NEVER = Number.POSITIVE_INFINITY;

export interface ChangesOptions {
  readonly pods: readonly [Pod, Pod];
  readonly setEndpoint: (pod: Pod) => Promise<void>;
  readonly watch: KernelWatch;
  readonly waiting: Waiting;
}

/** Lets the other pod serve every 250 ms, or as soon as the change before is in force. */
export class VictimChanges {
  readonly made: VictimChange[] = [];
  readonly #options: ChangesOptions;
  #serving: 0 | 1 = 0;

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  async goOn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const fromMs = monotonicMs();
      this.made.push(await this.#change());
      const restMs = EVERY_MS - (monotonicMs() - fromMs);
      if (restMs > 0 && !signal.aborted) await pause(restMs);
    }
  }

  async #change(): Promise<VictimChange> {
    const { pods, watch, setEndpoint } = this.#options;
    this.#serving = this.#serving === 0 ? 1 : 0;
    const pod = pods[this.#serving];
    await watch.expect(pod.address.ipv4);
    const sentAtMs = monotonicMs();
    const offsetMs = sentAtMs - performance.now();
    const waiting = { ...this.#options.waiting, deadlineMs: DEADLINE_MS };
    const [writtenAtMs, sight, answeredAtMs] = await Promise.all([
      setEndpoint(pod).then(monotonicMs),
      watch.sight({ quietMs: 0, deadlineMs: DEADLINE_MS }),
      answeredByAtMs(pod.spec.name, waiting),
    ]);
    const toldAtMs = sight.toldMs === 0 ? sight.firstMs : sight.toldMs;
    const isSeen = sight.count > 0;
    return {
      sentAtMs,
      writtenMs: writtenAtMs - sentAtMs,
      toldMs: isSeen ? Math.min(toldAtMs, sight.firstMs) - sentAtMs : toldAtMs - sentAtMs,
      heldMs: isSeen ? Math.max(0, sight.firstMs - toldAtMs) : NEVER,
      wholeMs: answeredAtMs === undefined ? NEVER : answeredAtMs + offsetMs - sentAtMs,
    };
  }
}
