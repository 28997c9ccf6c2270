import { createInterface } from 'node:readline';
import { ClientPorts } from '../../break/faults/plane/connections.ts';
import { monotonicMs } from '../../break/faults/plane/questions.ts';
import { connectOnce, Stream } from './load-connection.ts';
import type { LoadPlan, LoadTally, OddConnection } from './load-questions.ts';

const TICK_MS = 5;
/** The kernel sends the begin of a connection again after a second. */
const LATE_MS = 900;
/** A machine that is too busy for the rate must not have more and more of them to do. */
const MOST_UNDER_WAY = 300;
const MOST_ODD = 20;
const REFUSALS = new Set(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Answers each line `tally` with a line, until there are no more. */
export async function answerLoad(planText: string): Promise<void> {
  const plan = JSON.parse(planText) as LoadPlan;
  const lifetime = new AbortController();
  const load = new Load(plan);
  load.start(lifetime.signal);
  for await (const _ of createInterface(process.stdin)) {
    console.log(JSON.stringify(await load.tally()));
  }
  lifetime.abort();
}

interface Period {
  made: number;
  failed: number;
  refusedOrReset: number;
  longestPauseMs: number;
  readonly odd: OddConnection[];
}

/** Begins connections at a steady rate, whatever becomes of those before. */
class Load {
  readonly #plan: LoadPlan;
  readonly #ports = new ClientPorts();
  readonly #stream: Stream;
  readonly #underWay = new Set<Promise<void>>();
  #period = newPeriod();

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#stream = new Stream(plan.way);
  }

  start(signal: AbortSignal): void {
    this.#stream.start(signal);
    const everyMs = 1_000 / this.#plan.connectionsPerSecond;
    let nextMs = monotonicMs();
    let lastMs = nextMs;
    const ticking = setInterval(() => {
      const nowMs = monotonicMs();
      const pauseMs = nowMs - lastMs;
      lastMs = nowMs;
      this.#period.longestPauseMs = Math.max(this.#period.longestPauseMs, pauseMs);
      for (; nextMs < nowMs; nextMs += everyMs) {
        if (this.#underWay.size < MOST_UNDER_WAY) this.#begin();
      }
    }, TICK_MS);
    signal.addEventListener('abort', () => clearInterval(ticking));
  }

  /** Results of connections begun since the last call; resolves when all of them have ended. */
  async tally(): Promise<LoadTally> {
    const period = this.#period;
    this.#period = newPeriod();
    const stream = this.#stream.tally();
    await Promise.all(this.#underWay);
    return { ...period, stream };
  }

  #begin(): void {
    const period = this.#period;
    period.made++;
    const work = this.#connect(period).finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  async #connect(period: Period): Promise<void> {
    const { way } = this.#plan;
    const sourcePort = this.#ports.take();
    const begunMs = monotonicMs();
    const error = await connectOnce(way, sourcePort);
    const tookMs = monotonicMs() - begunMs;
    if (error === undefined && tookMs < LATE_MS) return;
    if (error !== undefined) {
      period.failed++;
      if (REFUSALS.has(error)) period.refusedOrReset++;
    }
    if (period.odd.length >= MOST_ODD) return;
    const about = { way: way.name, sourcePort, begunMs, tookMs };
    period.odd.push({ ...about, ...(error === undefined ? {} : { error }) });
  }
}

function newPeriod(): Period {
  return { made: 0, failed: 0, refusedOrReset: 0, longestPauseMs: 0, odd: [] };
}
