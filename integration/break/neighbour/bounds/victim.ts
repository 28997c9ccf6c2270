import { enterNamespace } from '../../../../lab/host/namespaces.ts';
import { tryRun } from '../../../../lab/host/run.ts';
import type { Origin } from '../../../../lab/host/sockets.ts';
import { type ClientPorts, Hammer } from '../../faults/plane/connections.ts';
import { HeldConnections } from '../../faults/plane/held-connections.ts';
import { NODE, NODE_INDEX, SERVE_PORT } from '../names.ts';
import type { NeighbourScene } from '../scene.ts';
import { whoAnswers } from '../victim/who-answers.ts';
import type { CommandAnswer, VictimAnswer } from './answer.ts';
import { apart, tookMs } from './direct.ts';
import { HealthProbe } from './health-probe.ts';
import { askNewcomer, type Newcomer } from './newcomer.ts';

const OPEN = 20;
const STICKY = 20;
const STICKY_FROM = '10.204.200';
const HAMMER = { hands: 2, pauseMs: 20 };
const DIRECT = { hands: 1, pauseMs: 50 };
const COMMAND_DEADLINE_MS = 10_000;

export interface VictimOptions {
  readonly scene: NeighbourScene;
  /** What Node is given to run Fairlead. */
  readonly program: readonly string[];
  /** Of a Service that it will create. */
  readonly newName: string;
  /** One for all bounds: a port that is used again too soon follows an old flow. */
  readonly ports: ClientPorts;
}

type ConnectionsSeen = Pick<
  VictimAnswer,
  'made' | 'failed' | 'stalled' | 'slowestDirectMs' | 'example'
>;

/** Another namespace of the same node, from before a bound is filled until it has been asked. */
export class Victim implements AsyncDisposable {
  readonly #options: VictimOptions;
  readonly #held: HeldConnections;
  readonly #hammer: Hammer;
  /** Straight to a pod: where this stands still too, it is the machine and not the proxy. */
  readonly #direct: Hammer;
  readonly #health: HealthProbe;
  readonly #over = new AbortController();
  #endpoints: readonly (string | undefined)[] = [];
  #probing: Promise<void> = Promise.resolve();

  constructor(options: VictimOptions) {
    this.#options = options;
    const { ports, scene } = options;
    const target = { ...this.#from, ...scene.stable };
    this.#held = new HeldConnections(target, ports);
    this.#hammer = new Hammer(target, ports);
    const [pod] = scene.moving.pods;
    const bare = { ...this.#from, address: pod.address.ipv4, port: SERVE_PORT };
    this.#direct = new Hammer(bare, ports);
    this.#health = new HealthProbe(this.#nodePath);
  }

  /** Opens what must stay open, and begins to connect. */
  async begin(): Promise<void> {
    await this.#held.open(OPEN);
    this.#endpoints = await this.#askSticky();
    this.#hammer.start(HAMMER);
    this.#direct.start(DIRECT);
    this.#probing = this.#health.goOn(this.#over.signal);
  }

  /** While the bound is full. `status` is asked again until it says what it should. */
  async ask(told: RegExp | undefined): Promise<VictimAnswer> {
    const { scene, newName } = this.#options;
    const { lab, moving } = scene;
    const status = await this.#fairlead('status', told);
    const diff = await this.#fairlead('diff');
    const again = await this.#askSticky();
    const strayed = again.flatMap((name, index) => {
      const before = this.#endpoints[index];
      return name === before ? [] : [`${before ?? 'nobody'}, then ${name ?? 'no answer'}`];
    });
    const newcomer = await askNewcomer({ lab, from: this.#from, name: newName, pods: moving.pods });
    const lost = await this.#held.lost();
    await this.#stop();
    const bad = this.#health.asked.filter(({ isWell }) => !isWell);
    return {
      ...this.#connections(newcomer),
      open: OPEN,
      lost: lost.length,
      ...(lost[0] === undefined ? {} : { lostBy: lost[0] }),
      sticky: STICKY,
      strayed: strayed.length,
      ...(strayed[0] === undefined ? {} : { strayedExample: strayed[0] }),
      healthAsked: this.#health.asked.length,
      healthBad: bad.length,
      ...(bad[0] === undefined ? {} : { healthExample: bad[0].answer }),
      slowestHealthMs: Math.max(0, ...this.#health.asked.map(({ tookMs }) => tookMs)),
      status,
      diff,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    this.#held[Symbol.dispose]();
  }

  get #from(): Pick<Origin, 'namespace' | 'group'> {
    const { asker, lab } = this.#options.scene;
    return { namespace: asker.namespacePath, group: lab.socketGroup(NODE_INDEX) };
  }

  get #nodePath(): string {
    return this.#options.scene.lab.namespacePath(NODE);
  }

  #connections(newcomer: Newcomer): ConnectionsSeen {
    const { stalled, failed } = apart(this.#hammer.failed(), this.#direct.made);
    const example = failed > 0 ? this.#hammer.verdict() : newcomer.example;
    return {
      made: this.#hammer.made.length + newcomer.made,
      failed: failed + newcomer.failed,
      stalled,
      slowestDirectMs: Math.max(0, ...this.#direct.made.map(tookMs)),
      ...(example === undefined ? {} : { example }),
    };
  }

  async #stop(): Promise<void> {
    this.#over.abort();
    await Promise.all([this.#hammer.stop(), this.#direct.stop(), this.#probing]);
  }

  async #askSticky(): Promise<(string | undefined)[]> {
    const addresses = Array.from({ length: STICKY }, (_, index) => `${STICKY_FROM}.${index + 1}`);
    const from = this.#from;
    const { sticky } = this.#options.scene;
    return await Promise.all(
      addresses.map((sourceAddress) => whoAnswers({ ...from, sourceAddress }, sticky)),
    );
  }

  /** The last answer before the deadline, or the first that says what is wanted. */
  async #fairlead(verb: 'status' | 'diff', told?: RegExp): Promise<CommandAnswer> {
    const { runFolder } = this.#options.scene;
    const { program } = this.#options;
    const argv = [process.execPath, ...program, verb, `--run-folder=${runFolder}`] as const;
    const beganMs = performance.now();
    for (;;) {
      const fromMs = performance.now();
      const deadlineMs = COMMAND_DEADLINE_MS;
      const answer = await tryRun(enterNamespace(this.#nodePath, argv), { deadlineMs }).then(
        ({ exitCode, stdout, stderr }) => ({ exitCode, text: stdout + stderr }),
        (error: unknown) => ({ exitCode: undefined, text: String(error) }),
      );
      const nowMs = performance.now();
      const isSaid = told === undefined || told.test(answer.text);
      if (isSaid || nowMs - beganMs > COMMAND_DEADLINE_MS) {
        return { ...answer, tookMs: nowMs - fromMs };
      }
    }
  }
}
