import { paths, type Service } from '../../lab/api/objects.ts';
import { until } from '../../lab/host/until.ts';
import type { Pod } from '../../lab/kubelet/pods.ts';
import type { Lab } from '../../lab/lab.ts';
import { FAMILIES, type Family } from '../../lab/network/plan.ts';
import { BareWatcher } from './bare-watcher.ts';
import { sideAnswers } from './side-answers.ts';

export const BARRIER_NAME = 'conformance-barrier';
export const BARRIER_PORT = 9000;
/** Without waiting for the attempt before: a lost SYN would make every time a multiple of its deadline. */
const MEASURED_EVERY_MS = 10;

export interface GateOptions {
  readonly lab: Lab;
  readonly deadlineMs: number;
  readonly namespace: string;
  readonly sides: readonly Pod[];
  /** Roles of the hosts that a proxy runs on. */
  readonly hosts: readonly string[];
}

/** Both since the first write of the round was sent. */
export interface Round {
  /** Until the last host answered in the last family. */
  readonly barrierMs: number;
  /** Until a client that only watches had seen the Service and its slices. */
  readonly watcherMs: number;
}

/** The barrier of one namespace. */
export class Gate {
  readonly #options: GateOptions;
  #generation = 0;
  #service: Service | undefined;
  #running: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  pass(): Promise<void> {
    // Whoever comes while a round is under way needs the next one: this one may be too old.
    this.#waiting ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#waiting = undefined;
        this.#running = this.#round();
        return this.#running;
      });
    return this.#waiting;
  }

  async measure(signal: AbortSignal): Promise<Round> {
    await this.pass();
    const { lab, namespace, deadlineMs } = this.#options;
    const stop = new AbortController();
    const lifetime = AbortSignal.any([signal, stop.signal]);
    const watcher = new BareWatcher({
      api: lab.api,
      namespace,
      service: BARRIER_NAME,
      deadlineMs,
    });
    const watching = watcher.run(lifetime);
    try {
      await watcher.sees(this.#port);
      const sentAtMs = performance.now();
      await this.#turn();
      const port = this.#port;
      const [seenAtMs, reachedAtMs] = await Promise.all([
        watcher.sees(port),
        this.#reachedEverywhere(MEASURED_EVERY_MS),
      ]);
      return { barrierMs: reachedAtMs - sentAtMs, watcherMs: seenAtMs - sentAtMs };
    } finally {
      stop.abort();
      await watching;
    }
  }

  async remove(): Promise<void> {
    const { lab, namespace } = this.#options;
    if (this.#service === undefined) return;
    await lab.api.delete(paths.service(namespace, BARRIER_NAME));
    for (const family of FAMILIES) await lab.api.delete(paths.slice(namespace, sliceName(family)));
  }

  async #round(): Promise<void> {
    if (!this.#service) await this.#create();
    // Only from a common side is the other one news: a round that failed may have left a proxy
    // behind, and its old state would pass for the next.
    await this.#reachedEverywhere();
    await this.#turn();
    await this.#reachedEverywhere();
  }

  /** Writes the other side into both slices, then into the Service. */
  async #turn(): Promise<void> {
    const { lab, namespace } = this.#options;
    this.#generation++;
    await Promise.all(
      FAMILIES.map((family) =>
        lab.api.patch(paths.slice(namespace, sliceName(family)), this.#content(family)),
      ),
    );
    const ports = [{ port: this.#port, protocol: 'TCP' }];
    await lab.api.patch(paths.service(namespace, BARRIER_NAME), { spec: { ports } });
  }

  async #create(): Promise<void> {
    const { lab, namespace } = this.#options;
    this.#service = await lab.api.create<Service>(paths.services(namespace), {
      metadata: { name: BARRIER_NAME },
      spec: { ipFamilyPolicy: 'RequireDualStack', ports: [{ port: BARRIER_PORT }] },
    });
    for (const family of FAMILIES) {
      const slice = { ...sliceHead(family), ...this.#content(family) };
      await lab.api.create(paths.slices(namespace), slice);
    }
  }

  /** Gives the time at which the last of them was reached. */
  async #reachedEverywhere(overlappingMs?: number): Promise<number> {
    const times = await Promise.all(
      this.#options.hosts.flatMap((host) =>
        (this.#service?.spec.clusterIPs ?? []).map((address) =>
          this.#reached({ host, address, side: this.#side }, overlappingMs),
        ),
      ),
    );
    return Math.max(...times);
  }

  async #reached(
    question: { host: string; address: string; side: number },
    overlappingMs: number | undefined,
  ): Promise<number> {
    const { lab, deadlineMs } = this.#options;
    const { host, address, side } = question;
    const to = { address, port: BARRIER_PORT + side };
    const what = `the proxy of ${host} to apply the latest change (${address})`;
    let reachedAtMs: number | undefined;
    const ask = async (): Promise<void> => {
      const isRight = await sideAnswers(lab.namespacePath(host), to, side);
      if (isRight) reachedAtMs ??= performance.now();
    };
    const everyMs = overlappingMs === undefined ? {} : { everyMs: overlappingMs };
    return await until(
      async () => {
        if (overlappingMs === undefined) await ask();
        else void ask();
        return reachedAtMs;
      },
      { what, deadlineMs, ...everyMs },
    );
  }

  get #side(): number {
    return this.#generation % 2;
  }

  get #port(): number {
    return BARRIER_PORT + this.#side;
  }

  /** The part of the slice that changes with each round. */
  #content(family: Family): object {
    const address = this.#options.sides[this.#side]?.address[family];
    return {
      ports: [{ name: '', port: this.#port, protocol: 'TCP' }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    };
  }
}

function sliceHead(family: Family): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: sliceName(family),
      labels: { 'kubernetes.io/service-name': BARRIER_NAME },
    },
    addressType: family === 'ipv4' ? 'IPv4' : 'IPv6',
  };
}

function sliceName(family: Family): string {
  return `${BARRIER_NAME}-${family}`;
}
