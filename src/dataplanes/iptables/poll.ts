import { createHash } from 'node:crypto';
import { FAMILIES, type Family } from '../../forwarding/model.ts';
import { IPTABLES_TABLES } from '../../linux/iptables/programs.ts';
import { saveText } from '../../linux/iptables/save.ts';
import { parseSaved } from '../../linux/iptables/saved-table.ts';
import { pause } from '../../linux/pause.ts';
import type { Drift } from '../contract.ts';
import { type Jump, PRESENT_CHAINS } from './fixed-parts.ts';
import type { KernelView } from './kernel-view.ts';

/** Of a large table a look takes long: at most this part of the time is spent looking. */
const MOST_SHARE = 0.02;

interface Seen {
  readonly digest: string;
  readonly writtenCount: number;
}

export interface Polled {
  readonly program: string;
  readonly periodMs: number;
  /** Operations that we have written; while it stays, only others can have changed anything. */
  readonly writtenCount: () => number;
  /** What must lead to our chains now. */
  readonly jumps: () => readonly Jump[];
  /** Nothing is under way, and everything has been there once. */
  readonly isQuiet: () => boolean;
}

/** The legacy tables tell nobody that they were changed. Looks now and then whether the tables are what they were, until the signal is aborted. */
export async function pollTables(
  of: Polled,
  onDrift: (drift: Drift) => void,
  signal: AbortSignal,
): Promise<void> {
  const seen = new Map<Family, Seen>();
  let waitMs = of.periodMs;
  while (!signal.aborted) {
    await pause(waitMs, signal);
    if (signal.aborted) return;
    const begunMs = performance.now();
    for (const family of FAMILIES) {
      const what = await lookAt(family, of, seen);
      if (what !== undefined) onDrift({ what });
    }
    waitMs = Math.max(of.periodMs, (performance.now() - begunMs) / MOST_SHARE);
  }
}

async function lookAt(
  family: Family,
  of: Polled,
  seen: Map<Family, Seen>,
): Promise<string | undefined> {
  const before = of.writtenCount();
  const texts = await Promise.all(
    IPTABLES_TABLES.map((table) => saveText({ program: of.program, family, table })),
  );
  // What was read while we were writing may be half of it.
  if (!of.isQuiet() || of.writtenCount() !== before) return undefined;
  const last = seen.get(family);
  const digest = digestOf(texts);
  seen.set(family, { digest, writtenCount: before });
  if (last?.digest === digest) return undefined;
  if (last?.writtenCount === before) return `the ${family} tables changed`;
  // Some of it is our own doing; what must be there whatever the rows are tells of a flush.
  const missing = missingPart(texts, of.jumps());
  return missing === undefined ? undefined : `${family} ${missing} is missing`;
}

/** Of rules and chains, without counters and the time. */
function digestOf(texts: readonly string[]): string {
  const hash = createHash('sha1');
  for (const text of texts) {
    hash.update(text.replaceAll(/^#.*$/gm, '').replaceAll(/ \[\d+:\d+\]$/gm, ''));
  }
  return hash.digest('base64');
}

function missingPart(texts: readonly string[], jumps: readonly Jump[]): string | undefined {
  const view = Object.fromEntries(
    IPTABLES_TABLES.map((table, index) => [table, parseSaved(texts[index] ?? '')]),
  ) as KernelView;
  const chain = PRESENT_CHAINS.find(({ table, name }) => !view[table].has(name));
  if (chain) return `chain ${chain.name} of table ${chain.table}`;
  const jump = jumps.find(({ table, chain: name, rule }) => !view[table].get(name)?.includes(rule));
  return jump && `jump from ${jump.chain} in table ${jump.table}`;
}
