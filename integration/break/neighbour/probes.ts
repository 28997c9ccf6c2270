import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs } from '../../../bench/shapes/kernel-watch.ts';
import type { Slab } from '../../../bench/slab/slab.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';

export interface Probe {
  readonly atMs: number;
  /** Until the answer; Infinity: none before the deadline. */
  readonly tookMs: number;
  readonly status: number;
}

export interface MemorySample {
  readonly atMs: number;
  readonly residentBytes: number;
  readonly slabBytes: number;
}

const HEALTH_PORT = 10_256;
const EVERY_MS = 200;
const DEADLINE_MS = 10_000;
const KIB = 1024;

/** Asks /livez from the node, every 200 ms, whether the question before was answered or not. */
export class LivezProbe {
  readonly asked: Probe[] = [];
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  async goOn(signal: AbortSignal): Promise<void> {
    const open = new Set<Promise<void>>();
    while (!signal.aborted) {
      const one = this.#ask().finally(() => open.delete(one));
      open.add(one);
      await pause(EVERY_MS);
    }
    await Promise.all(open);
  }

  async #ask(): Promise<void> {
    const atMs = monotonicMs();
    const to = { address: '127.0.0.1', port: HEALTH_PORT, path: '/livez', deadlineMs: DEADLINE_MS };
    const status = await httpGet({ namespace: this.#namespace }, to).then(
      (answer) => answer.status,
      () => 0,
    );
    const tookMs = status === 0 ? Number.POSITIVE_INFINITY : monotonicMs() - atMs;
    this.asked.push({ atMs, tookMs, status });
  }
}

/** Memory of the proxy's process, and what the kernel holds above the start. */
export class MemoryProbe {
  readonly samples: MemorySample[] = [];
  readonly #pid: number;
  readonly #slab: Slab;

  constructor(of: { pid: number; slab: Slab }) {
    this.#pid = of.pid;
    this.#slab = of.slab;
  }

  async goOn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.samples.push(await this.sample());
      await pause(EVERY_MS);
    }
  }

  async sample(): Promise<MemorySample> {
    const status = await readFile(`/proc/${this.#pid}/status`, 'utf8').catch(() => '');
    const kib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN);
    const slabBytes = this.#slab.takeHighestBytes();
    return { atMs: monotonicMs(), residentBytes: kib * KIB, slabBytes };
  }
}
