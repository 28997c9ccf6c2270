import type { Flow } from '../../linux/conntrack/flow.ts';
import type { NewFlowListener } from '../../linux/top/new-flows.ts';

/** New flows since the last call. */
export interface Heard {
  /** False: more than was heard; what is known of it ranks, and is no figure. */
  readonly isComplete: boolean;
  readonly count: number;
}

export type Listen = (listener: NewFlowListener, signal: AbortSignal) => Promise<void>;

export interface EventTapOptions {
  readonly listen: Listen;
  readonly onFlow: (flow: Flow) => void;
  /** Events between two calls of `take`; after these it stops listening until the next. */
  readonly most: number;
  /** Listening failed; there are no more events. */
  readonly onProblem: (error: unknown) => void;
}

/**
 * Hears of new flows, and of a flood no more than it may: each event costs this process some
 * microseconds, and the kernel too for as long as somebody listens.
 */
export class EventTap {
  readonly #options: EventTapOptions;
  #listening: AbortController | undefined;
  #hasFailed = false;
  #count = 0;
  #isComplete = true;

  constructor(options: EventTapOptions) {
    this.#options = options;
  }

  open(signal: AbortSignal): void {
    if (this.#listening || this.#hasFailed || signal.aborted) return;
    const listening = new AbortController();
    this.#listening = listening;
    const listener: NewFlowListener = {
      onFlow: (flow) => this.#hear(flow),
      onOverrun: () => {
        this.#isComplete = false;
      },
    };
    this.#options
      .listen(listener, AbortSignal.any([signal, listening.signal]))
      .catch((error: unknown) => {
        this.#hasFailed = true;
        this.#isComplete = false;
        this.#options.onProblem(error);
      });
  }

  /** What was heard since the last call; counting begins again, and listening if it had stopped. */
  take(signal: AbortSignal): Heard {
    const heard = { isComplete: this.#isComplete && !this.#hasFailed, count: this.#count };
    this.#isComplete = true;
    this.#count = 0;
    this.open(signal);
    return heard;
  }

  close(): void {
    this.#listening?.abort();
    this.#listening = undefined;
  }

  #hear(flow: Flow): void {
    // What was received together with the last one that may be read.
    if (this.#count >= this.#options.most) return;
    this.#count += 1;
    this.#options.onFlow(flow);
    if (this.#count < this.#options.most) return;
    this.#isComplete = false;
    this.close();
  }
}
