import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Slab } from '../../../bench/slab/slab.ts';
import { run } from '../../../lab/host/run.ts';
import { ClientPorts, Hammer } from '../faults/plane/connections.ts';
import { findAftermath } from './aftermath.ts';
import type { AttackReport, HostileOrder } from './hostile/process.ts';
import { GENTLE_LIMITS, LIMITS, NODE_INDEX } from './names.ts';
import { LivezProbe, MemoryProbe } from './probes.ts';
import type { NeighbourResult } from './result.ts';
import { MOVING, type NeighbourScene, watchNode } from './scene.ts';
import { readCaches } from './slab-growth.ts';
import { VictimChanges } from './victim/changes.ts';
import { setEndpoint } from './victim/pods.ts';
import { StickyClients } from './victim/sticky-clients.ts';

const PROGRAM = fileURLToPath(new URL('../main.ts', import.meta.url));
const CALM_MS = 10_000;
const GRACE_MS = 120_000;
const GUARD_EVERY_MS = 100;
/** The proxy is ended before the machine is. */
const MOST_SLAB_BYTES = 4 * 1024 ** 3;
const HAMMER = { hands: 2, pauseMs: 20 };

export interface NeighbourOptions {
  readonly scene: NeighbourScene;
  readonly tool: string;
  readonly seed: number;
  readonly seconds: number;
  readonly isGentle: boolean;
  readonly only?: string;
  readonly detail: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Lets the hostile user do what it can, and measures what the neighbour sees of it. */
export async function runNeighbour(options: NeighbourOptions): Promise<NeighbourResult> {
  const { scene, signal } = options;
  const { lab, proxy } = scene;
  await using slab = new Slab();
  await slab.start();
  using watch = await watchNode(scene, options.tool);
  const changes = new VictimChanges({
    pods: scene.moving.pods,
    setEndpoint: (pod) => setEndpoint(lab, MOVING, pod),
    watch,
    waiting: scene.moving.waiting,
  });
  options.detail('the victim alone');
  await changes.goOn(AbortSignal.any([signal, AbortSignal.timeout(CALM_MS)]));
  const calm = changes.made.splice(0);
  const cachesBefore = await readCaches();
  slab.mark();
  const from = { namespace: scene.asker.namespacePath, group: lab.socketGroup(NODE_INDEX) };
  const hammer = new Hammer({ ...from, ...scene.stable }, new ClientPorts());
  const livez = new LivezProbe(scene.moving.waiting.origin.namespace);
  const memory = new MemoryProbe({ pid: proxy.daemon.pid, slab });
  const clients = new StickyClients(from, scene.sticky);
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  let ended: string | undefined;
  const guard = setInterval(() => {
    ended ??= whyEnded(scene, slab);
    if (ended !== undefined) over.abort();
  }, GUARD_EVERY_MS);
  const watching = [changes, livez, memory, clients].map((each) => each.goOn(stop));
  hammer.start(HAMMER);
  const attacks: AttackReport[] = [];
  try {
    await carryOutAttacks(options, { attacks, signal: stop });
  } finally {
    clearInterval(guard);
    over.abort();
    if (ended !== undefined) await proxy.daemon.kill();
    await Promise.all([...watching, hammer.stop()]);
  }
  signal.throwIfAborted();
  const slabPeakBytes = slab.peakAboveBytes;
  options.detail('what is left');
  const aftermath =
    ended === undefined ? await findAftermath({ scene, memory, slab, cachesBefore }) : {};
  return {
    proxy: proxy.variant.name,
    seed: options.seed,
    seconds: options.seconds,
    isGentle: options.isGentle,
    calm,
    changes: changes.made,
    attacks,
    probes: livez.asked,
    memory: memory.samples,
    slabPeakBytes,
    connections: {
      made: hammer.made.length,
      failed: hammer.failed().length,
      example: hammer.verdict(),
    },
    clients: clients.asked,
    aftermath,
    ...(ended === undefined ? {} : { ended }),
  };
}

function whyEnded({ proxy }: NeighbourScene, slab: Slab): string | undefined {
  const end = proxy.daemon.ended();
  if (end !== undefined) return `the proxy ended (${end})`;
  return slab.aboveBytes > MOST_SLAB_BYTES ? 'ended: more than 4 GB of slab' : undefined;
}

/** In a separate process, which reports each attack when it is over. */
async function carryOutAttacks(
  options: NeighbourOptions,
  of: { attacks: AttackReport[]; signal: AbortSignal },
): Promise<void> {
  const { scene, tool, seed, seconds } = options;
  const { lab } = scene;
  const order: HostileOrder = {
    token: scene.hostileToken,
    authorityFile: lab.credentials.certificateAuthorityFile,
    fabricPath: lab.namespacePath('fabric'),
    podPath: scene.hostilePod.namespacePath,
    tool,
    seed,
    seconds,
    limits: options.isGentle ? GENTLE_LIMITS : LIMITS,
    ...(options.only === undefined ? {} : { only: options.only }),
  };
  const file = join(lab.folder, 'hostile.json');
  await writeFile(file, JSON.stringify(order), { mode: 0o600 });
  let rest = '';
  const onStdout = (text: string): void => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const report = JSON.parse(line) as AttackReport;
      of.attacks.push(report);
      options.detail(`${report.attack}: ${report.accepted} writes`);
    }
  };
  const argv = [
    'nice',
    '-n',
    '10',
    process.execPath,
    PROGRAM,
    'neighbour',
    'hostile',
    file,
  ] as const;
  const deadlineMs = seconds * 1_000 + GRACE_MS;
  await run([...argv], { deadlineMs, signal: of.signal, onStdout }).catch((error: unknown) => {
    if (!of.signal.aborted) throw error;
  });
}
