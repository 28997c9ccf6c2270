import { quantile } from '../../../lab/host/spread.ts';
import type { Acknowledged } from '../../../src/agent/observer.ts';
import { NodeBench } from './node-bench.ts';
import type { Stage, StagesMeasured } from './stage-names.ts';
import { spreadOf } from './statistics.ts';

/**
 * Run in a process of its own: two nodes, one with few Services and one with many, each over a
 * kernel of its own. They get one change after the other, alternately, so that a disturbance
 * of the machine affects both; and each change is timed at the end of every stage.
 */

interface Timed {
  readonly wholeMs: number;
  readonly stagesMs: Readonly<Record<Stage, number>>;
}

interface Flip {
  readonly without: Buffer;
  readonly whole: Buffer;
}

const BLOCK = 100;
const WARM_UP_BLOCKS = 4;
/** A prime, so that neighbours in memory are not visited one after the other. */
const STRIDE = 7_919;

class TimedNode {
  readonly services: number;
  readonly times: Timed[] = [];
  readonly #flips: Flip[] = [];
  readonly #bench: NodeBench;
  #sentAtMs = 0;
  #doneAtMs = 0;
  #visits = 0;

  constructor(services: number, endpointsPerService: number, mostFlips: number) {
    this.services = services;
    const every = Math.max(1, Math.floor(services / mostFlips));
    let seen = 0;
    this.#bench = new NodeBench({
      size: { services, endpointsPerService },
      onSend: () => {
        this.#sentAtMs = performance.now();
      },
      onSent: () => {
        this.#doneAtMs = performance.now();
      },
      onObject: (kind, raw) => {
        if (kind === 'slice' && seen++ % every === 0) this.#flips.push(flipOf(raw as RawSlice));
      },
    });
  }

  async start(): Promise<void> {
    await this.#bench.tell();
    await this.#bench.coldStartMs();
  }

  async block(): Promise<Timed[]> {
    const times: Timed[] = [];
    for (let count = 0; count < BLOCK; count++) times.push(await this.#change());
    return times;
  }

  async stop(): Promise<void> {
    await this.#bench[Symbol.asyncDispose]();
  }

  async #change(): Promise<Timed> {
    const visit = this.#visits++;
    const flip = this.#flips[(visit * STRIDE) % this.#flips.length];
    if (!flip) throw new Error('there is no slice to change');
    const isBack = Math.floor(visit / this.#flips.length) % 2 === 1;
    // A copy, because what has just been received is in the processor's cache.
    const line = Buffer.from(isBack ? flip.whole : flip.without);
    const { source } = this.#bench;
    const startedAtMs = performance.now();
    const acknowledged = await this.#bench.change(() => source.line('slice', line));
    const endedAtMs = startedAtMs + wholeOf(acknowledged, source.readAtMs - startedAtMs);
    const [propagation] = acknowledged.propagations;
    const rowsAtMs = source.readAtMs + (propagation?.resolveMs ?? Number.NaN);
    return {
      wholeMs: endedAtMs - startedAtMs,
      stagesMs: {
        line: source.readAtMs - startedAtMs,
        rows: rowsAtMs - source.readAtMs,
        encode: this.#sentAtMs - rowsAtMs,
        kernel: this.#doneAtMs - this.#sentAtMs,
        acknowledge: endedAtMs - this.#doneAtMs,
      },
    };
  }
}

function wholeOf({ propagations }: Acknowledged, lineMs: number): number {
  if (propagations.length !== 1)
    throw new Error(`one change caused ${propagations.length} propagations instead of one`);
  return lineMs + (propagations[0]?.totalMs ?? Number.NaN);
}

interface RawSlice {
  readonly endpoints: readonly { readonly conditions: object }[];
}

/** One endpoint is no longer ready, and is ready again. */
function flipOf(raw: RawSlice): Flip {
  const lineOf = (object: object): Buffer =>
    Buffer.from(JSON.stringify({ type: 'MODIFIED', object }));
  const [first, ...rest] = raw.endpoints;
  const conditions = { ready: false, serving: false, terminating: false };
  return {
    whole: lineOf(raw),
    without: lineOf({ ...raw, endpoints: [{ ...first, conditions }, ...rest] }),
  };
}

const [few = '', many = '', endpoints = '', blocks = ''] = process.argv.slice(2);
const mostFlips = (Number(blocks) + WARM_UP_BLOCKS) * BLOCK;
const nodes = [few, many].map(
  (count) => new TimedNode(Number(count), Number(endpoints), mostFlips),
);
for (const node of nodes) await node.start();
for (let block = 0; block < WARM_UP_BLOCKS + Number(blocks); block++) {
  for (const node of nodes) {
    const times = await node.block();
    if (block >= WARM_UP_BLOCKS) node.times.push(...times);
  }
}
console.log(JSON.stringify(nodes.map(measured)));
for (const node of nodes) await node.stop();

function measured({ services, times }: TimedNode): StagesMeasured {
  const medianOf = (stage: Stage): number =>
    quantile(
      times.map(({ stagesMs }) => stagesMs[stage]),
      0.5,
    );
  return {
    services,
    whole: spreadOf(times.map(({ wholeMs }) => wholeMs)),
    medianMs: {
      line: medianOf('line'),
      rows: medianOf('rows'),
      encode: medianOf('encode'),
      kernel: medianOf('kernel'),
      acknowledge: medianOf('acknowledge'),
    },
  };
}
