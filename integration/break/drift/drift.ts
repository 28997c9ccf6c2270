import { setTimeout as delay } from 'node:timers/promises';
import { bundleFairlead } from '../../../bench/bundle.ts';
import { parseProxies } from '../../../bench/contestants.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import type { Progress } from '../../../lab/host/progress.ts';
import { run } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { startLab } from '../../../lab/lab.ts';
import type { LoadSize } from '../../../lab/load/objects.ts';
import type { ProxyVariant } from '../../../lab/proxies/contract.ts';
import type { AgentSnapshot } from '../../../src/agent/snapshot.ts';
import { differences, type Program, readSaves } from '../../compare/iptables/saves.ts';
import {
  type ProxyProcess,
  snapshotOf,
  startOn,
  untilSynced,
} from '../../measure/scale/proxy-process.ts';

const NODE = 'node1';
const DEADLINE_MS = 120_000;
const LOOK_EVERY_MS = 5;
/** After this time the proxy detects external changes. The legacy backend is polled every 5 s. */
const WATCHED_AFTER_MS = { nft: 500, legacy: 12_000 } as const;

interface Touch {
  readonly what: string;
  readonly argv: readonly string[];
  /** A setting of the administrator: it is reported, and left as it is. */
  readonly isLeft?: true;
}

/** Of default/kubernetes:https, which every cluster has. */
const CHAIN = 'KUBE-SVC-NPX46M4PTMTKRN6Y';

const TOUCHES: readonly Touch[] = [
  { what: 'one jump deleted', argv: ['-t', 'nat', '-D', 'PREROUTING', '1'] },
  { what: 'a chain of a Service emptied', argv: ['-t', 'nat', '-F', CHAIN] },
  { what: 'flush of filter', argv: ['-t', 'filter', '-F'] },
  { what: 'flush of nat', argv: ['-t', 'nat', '-F'] },
  { what: '-P FORWARD DROP', argv: ['-t', 'filter', '-P', 'FORWARD', 'DROP'], isLeft: true },
];

export interface DriftFigures {
  readonly what: string;
  /** From the start of the command that modified the rules. */
  readonly commandMs: number;
  readonly toldMs: number;
  readonly rightMs: number;
  /** The inspection of the kernel, included in the time above. */
  readonly lookMs: number;
  readonly wrongRows: number;
  /** Lines in which the kernel differs from before, when all is said to be right. */
  readonly left: readonly string[];
}

/** External changes of a node's rules, and the time until they are repaired. */
export async function measureDrift(
  backend: 'nft' | 'legacy',
  load: LoadSize,
  of: { progress: Progress; signal: AbortSignal },
): Promise<DriftFigures[]> {
  const { progress, signal } = of;
  await using lab = await startLab({ nodeCount: 1, load, progress, signal });
  const namespacePath = lab.namespacePath(NODE);
  const program: Program = `xtables-${backend}-multi`;
  const variant = await shipped(backend);
  const proxy = await startOn(lab, NODE, variant);
  const figures: DriftFigures[] = [];
  try {
    await progress.step('a node that serves', () => untilSynced(proxy, signal));
    for (const touch of TOUCHES) {
      await delay(WATCHED_AFTER_MS[backend]);
      const before = await readSaves(namespacePath, program);
      const found = await progress.step(`${backend}: ${touch.what}`, () =>
        beTouched(proxy, touch, { namespacePath, program }),
      );
      const left = differences(before, await readSaves(namespacePath, program));
      figures.push({ ...found, left });
    }
  } finally {
    await proxy.daemon.kill();
  }
  return figures;
}

async function beTouched(
  proxy: ProxyProcess,
  { what, argv, isLeft }: Touch,
  of: { namespacePath: string; program: Program },
): Promise<Omit<DriftFigures, 'left'>> {
  const { driftCount } = await snapshotOf(proxy);
  const begunAt = Date.now();
  const begunMs = performance.now();
  await run(enterNamespace(of.namespacePath, [of.program, 'iptables', ...argv]), {
    deadlineMs: DEADLINE_MS,
  });
  const commandMs = performance.now() - begunMs;
  const wait = async (name: string, is: (snapshot: AgentSnapshot) => boolean) =>
    await until(
      async () => {
        const snapshot = await snapshotOf(proxy);
        return is(snapshot) ? snapshot : undefined;
      },
      { what: `${what}: ${name}`, deadlineMs: DEADLINE_MS, everyMs: LOOK_EVERY_MS },
    );
  await wait('told', (snapshot) => snapshot.driftCount > driftCount);
  const toldMs = performance.now() - begunMs;
  const { lastInspection } = await wait(
    'right',
    ({ lastInspection: last, rows }) =>
      last?.reason === 'drift' && last.atMs >= begunAt && rows.pending === 0,
  );
  const rightMs = performance.now() - begunMs;
  const found = {
    lookMs: lastInspection?.durationMs ?? 0,
    wrongRows: lastInspection?.wrongCount ?? 0,
  };
  if (isLeft && (lastInspection?.differenceCount ?? 0) > 0)
    throw new Error(`the proxy counted the foreign rule "${what}" as its own`);
  return { what, commandMs, toldMs, rightMs, ...found };
}

/** Fairlead in the form in which it is shipped. */
async function shipped(backend: 'nft' | 'legacy'): Promise<ProxyVariant> {
  const name = `fairlead-iptables${backend === 'nft' ? '' : '-legacy'}`;
  const [contestant] = parseProxies(name);
  if (!contestant) throw new RangeError(`the benchmark has no ${name}`);
  return contestant.variant(await bundleFairlead());
}
