import { setTimeout as delay } from 'node:timers/promises';
import type { Daemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import { monotonicMs } from '../../break/faults/plane/questions.ts';
import { differences } from '../iptables/saves.ts';
import { begunAgain, type Counters, readCounters, risen } from './counters.ts';
import type { Load } from './load.ts';
import type { LoadTally } from './load-questions.ts';
import type { Owner } from './owners.ts';
import { readHandles, readRules } from './rules.ts';
import type { Stage } from './stage.ts';

/** The load runs before and after, so that late failures are seen. */
const STEADY_MS = 2_000;
const SETTLE_DEADLINE_MS = 40_000;
/** Belongs to the kubelet as well: a proxy leaves it behind. */
const KUBELETS = /KUBE-FIREWALL/;

/** The effect of one change of proxy on clients and on the rules. */
export interface ChangeResult {
  readonly sequence: string;
  readonly from: string;
  readonly to: string;
  /** On the monotonic clock: begin of the end of the old one; all of it over. */
  readonly begunMs: number;
  readonly tookMs: number;
  readonly load: readonly LoadTally[];
  /** Rules by what became of them; undefined where the kernel does not number them. */
  readonly rules?: { readonly kept: number; readonly added: number; readonly gone: number };
  /** Lines of `iptables-save` or `nft list` that came and went. */
  readonly lines: { readonly added: number; readonly gone: number };
  /** What Fairlead says it found to be different, and wrote before it served, when it took over. */
  readonly adopted?: { readonly differences: number; readonly writes: number };
  /** In what the node differs from one that the new owner has alone. */
  readonly left: readonly string[];
  readonly counters: Counters;
  /** What connection tracking says about connections that failed. */
  readonly tracked: readonly string[];
}

export interface Change {
  readonly sequence: string;
  readonly from: Owner;
  readonly to: Owner;
  /** A fault for seeing that it is found: the old one takes its rules along before the new one is there. */
  readonly isOldRemovedFirst: boolean;
}

export async function changeProxy(
  stage: Stage,
  change: Change,
  running: { readonly daemon: Daemon; readonly load: Load },
): Promise<{ result: ChangeResult; daemon: Daemon }> {
  const { from, to, sequence } = change;
  const { load } = running;
  const alone = await stage.alone(to);
  const counters = await readCounters(stage.places);
  const before = await lookAt(stage, to);
  await delay(STEADY_MS);
  const begunMs = monotonicMs();
  await running.daemon.stop();
  if (change.isOldRemovedFirst) await stage.remove(from);
  const daemon = await stage.start(to);
  if (isRemovedByHand(from, to)) await stage.remove(from);
  const left = await leftAfter(stage, { from, to, alone });
  const tookMs = monotonicMs() - begunMs;
  await delay(STEADY_MS);
  const after = await lookAt(stage, to);
  const tallies = await load.tallies();
  const failed = tallies.flatMap(({ odd }) => odd.filter(({ error }) => error !== undefined));
  const result = {
    sequence,
    from: from.title,
    to: to.title,
    begunMs,
    tookMs,
    load: tallies,
    ...(before.handles && after.handles ? { rules: became(before.handles, after.handles) } : {}),
    lines: linesBetween(before.lines, after.lines),
    ...(await adoption(stage, to)),
    left,
    counters: risen(counters, await readCounters(stage.places)),
    tracked: await stage.tracked(failed),
  };
  return { result, daemon };
}

/** In the same chains there is nothing to remove, and Fairlead removes another mode by itself. */
function isRemovedByHand(from: Owner, to: Owner): boolean {
  if (from.mode === 'iptables' && to.mode === 'iptables') return false;
  if (to.takesOver && from.program === 'kube-proxy') return false;
  return !(to.program === 'fairlead' && from.mode !== to.mode);
}

async function lookAt(
  { node }: Stage,
  { backend }: Owner,
): Promise<{ lines: readonly string[]; handles?: ReadonlySet<string> }> {
  const lines = await readRules(node);
  return backend === 'legacy' ? { lines } : { lines, handles: await readHandles(node) };
}

/** Waits for the node to be what the new owner alone would make of it. */
async function leftAfter(
  { node }: Stage,
  of: { from: Owner; to: Owner; alone: readonly string[] },
): Promise<readonly string[]> {
  let left: readonly string[] = [];
  const isAlone = async (): Promise<boolean> => {
    const isSameMode = of.from.mode === of.to.mode;
    const isCompared = (line: string): boolean => isSameMode || !KUBELETS.test(line);
    left = differences(of.alone.filter(isCompared), (await readRules(node)).filter(isCompared));
    return left.length === 0;
  };
  await until(isAlone, { what: 'nothing of the old one', deadlineMs: SETTLE_DEADLINE_MS }).catch(
    (error: unknown) => {
      // What is left is the finding.
      if (left.length === 0) throw error;
    },
  );
  return left;
}

function became(before: ReadonlySet<string>, after: ReadonlySet<string>) {
  return {
    kept: before.intersection(after).size,
    added: after.difference(before).size,
    gone: before.difference(after).size,
  };
}

function linesBetween(before: readonly string[], after: readonly string[]) {
  const [a, b] = [new Set(before), new Set(after)];
  return { added: b.difference(a).size, gone: a.difference(b).size };
}

async function adoption(stage: Stage, { program }: Owner): Promise<Pick<ChangeResult, 'adopted'>> {
  if (program !== 'fairlead') return {};
  const { lastInspection } = await stage.status();
  if (lastInspection === undefined) return {};
  const { differenceCount, writeCount } = lastInspection;
  return { adopted: { differences: differenceCount, writes: writeCount } };
}

/** What keeps a change from having gone unnoticed; empty: nothing. */
export function faultsOf({ load, left, counters }: ChangeResult): string[] {
  const failed = sumOf(load, ({ failed }) => failed);
  const again = begunAgain(counters);
  return [
    ...(failed > 0 ? [`${failed} connections failed`] : []),
    ...(again > 0 ? [`${again} times the begin of a connection was lost`] : []),
    ...load.flatMap(({ stream }) =>
      stream.error === undefined ? [] : [`a stream ended: ${stream.error}`],
    ),
    ...(left.length > 0 ? [`${left.length} lines are not the new owner's, as ${left[0]}`] : []),
  ];
}

export function sumOf(load: readonly LoadTally[], of: (tally: LoadTally) => number): number {
  return load.reduce((sum, tally) => sum + of(tally), 0);
}
