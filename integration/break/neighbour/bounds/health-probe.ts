import { setTimeout as pause } from 'node:timers/promises';
import { httpGet } from '../../../../lab/servers/http-get.ts';

const PORT = 10_256;
const PATHS = ['/livez', '/healthz'] as const;
const EVERY_MS = 200;
const DEADLINE_MS = 5_000;
const HTTP_OK = 200;

interface Asked {
  readonly tookMs: number;
  readonly isWell: boolean;
  readonly answer: string;
}

/** Asks as kubelet and a load balancer do, from the node. */
export class HealthProbe {
  readonly asked: Asked[] = [];
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  async goOn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await Promise.all(PATHS.map((path) => this.#ask(path)));
      await pause(EVERY_MS);
    }
  }

  async #ask(path: string): Promise<void> {
    const from = performance.now();
    const to = { address: '127.0.0.1', port: PORT, path, deadlineMs: DEADLINE_MS };
    const said = await httpGet({ namespace: this.#namespace }, to).then(
      ({ status, body }) => ({ isWell: status === HTTP_OK, answer: `${path} ${status} ${body}` }),
      (error: unknown) => ({ isWell: false, answer: `${path} ${String(error)}` }),
    );
    this.asked.push({ tookMs: performance.now() - from, ...said });
  }
}
