import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Daemon } from '../../../lab/host/processes.ts';
import { median } from '../../../lab/host/spread.ts';
import { until } from '../../../lab/host/until.ts';
import type { Burst } from '../top/bursts.ts';

/** Bursts of changes without and with a page that reads. */
export interface Pairs {
  readonly without: readonly Burst[];
  readonly beside: readonly Burst[];
}

export interface PairFigures {
  /** Medians. */
  readonly cpuUs: { readonly without: number; readonly beside: number };
  /** The median of the pairs' own ratios. */
  readonly ratio: number;
  /** The longest of all. */
  readonly pauseMs: { readonly without: number; readonly beside: number };
  readonly collectionMs: { readonly without: number; readonly beside: number };
}

const DEADLINE_MS = 60_000;
const MB = 1_000_000;
/** After a rest of the command: everything that is due is read by then. */
const SETTLE_MS = 1_500;

/**
 * Bursts in turn, without and with the command, which is stopped for the first of them: its page stays
 * open, and no connection is made or closed.
 */
export async function burstsInPairs(
  { agent, view }: { readonly agent: Daemon; readonly view: Daemon },
  count: number,
): Promise<Pairs> {
  const [without, beside]: [Burst[], Burst[]] = [[], []];
  for (let pair = 0; pair < count; pair++) {
    view.freeze();
    await delay(SETTLE_MS / 10);
    without.push(await burst(agent));
    view.thaw();
    await delay(SETTLE_MS);
    beside.push(await burst(agent));
  }
  return { without, beside };
}

/** Bursts one after the other, while nobody looks. */
export async function burstsAlone(agent: Daemon, count: number): Promise<void> {
  for (let at = 0; at < count; at++) await burst(agent);
}

/** The agent of the measurement makes one for each signal, and writes a line. */
async function burst(agent: Daemon): Promise<Burst> {
  return await answerTo<Burst>(agent, { signal: 'SIGUSR2', begins: '{"changes"' });
}

/** What the agent holds after a full collection, in MB. */
export async function heldMb(agent: Daemon): Promise<number> {
  const asked = { signal: 'SIGHUP', begins: '{"heldBytes"' } as const;
  const { heldBytes } = await answerTo<{ readonly heldBytes: number }>(agent, asked);
  return heldBytes / MB;
}

async function answerTo<T>(
  agent: Daemon,
  { signal, begins }: { readonly signal: NodeJS.Signals; readonly begins: string },
): Promise<T> {
  const lines = (): string[] =>
    readFileSync(agent.logFile, 'utf8')
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith(begins));
  const known = lines().length;
  process.kill(agent.pid, signal);
  const what = `the agent to answer to ${signal}`;
  await until(() => lines().length > known, { what, deadlineMs: DEADLINE_MS });
  return JSON.parse(lines().at(-1) ?? '') as T;
}

export function figuresOf({ without, beside }: Pairs): PairFigures {
  const cpu = (all: readonly Burst[]): number => median(all.map(({ cpuUs }) => cpuUs));
  const longest = (all: readonly Burst[], of: (burst: Burst) => number): number =>
    Math.max(...all.map(of));
  const both = (of: (burst: Burst) => number) => ({
    without: longest(without, of),
    beside: longest(beside, of),
  });
  const ratios = beside.map(({ cpuUs }, at) => cpuUs / (without[at]?.cpuUs ?? cpuUs));
  return {
    cpuUs: { without: cpu(without), beside: cpu(beside) },
    ratio: median(ratios),
    pauseMs: both(({ pauseMs }) => pauseMs),
    collectionMs: both(({ collectionMs }) => collectionMs),
  };
}
