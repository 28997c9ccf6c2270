import { createHash } from 'node:crypto';
import type { Drift } from '../../../dataplanes/contract.ts';
import { pollSparingly } from '../../../dataplanes/shared/poll-pace.ts';
import { FAMILIES, type Family } from '../../../forwarding/model.ts';
import { IPTABLES_TABLES } from '../../../linux/xtables/iptables-programs.ts';
import { saveText } from '../../../linux/xtables/save.ts';
import { parseSaved } from '../../../linux/xtables/saved-table.ts';
import { type Jump, PRESENT_CHAINS } from './iptables-fixed-parts.ts';
import type { KernelView } from './kernel-view.ts';

/** Reading a large table takes long: at most this part of the time is spent on it. */
const MOST_SHARE = 0.02;

interface Seen {
  readonly digest: string;
  readonly writtenCount: number;
}

export interface Polled {
  readonly program: string;
  readonly periodMs: number;
  /** Operations that we have written; while it stays, only other processes can have changed anything. */
  readonly writtenCount: () => number;
  /** The jumps into our chains that must be there now. */
  readonly jumps: () => readonly Jump[];
  /** No write is under way, and the first inspection is done. */
  readonly isQuiet: () => boolean;
}

/** The kernel reports no changes of the legacy tables, so compare them now and then with what was read before. */
export async function pollTables(
  polled: Polled,
  onDrift: (drift: Drift) => void,
  signal: AbortSignal,
): Promise<void> {
  const seen = new Map<Family, Seen>();
  const poll = async (): Promise<boolean> => {
    for (const family of FAMILIES) {
      const what = await pollFamily(family, polled, seen);
      if (what !== undefined) onDrift({ what });
    }
    return true;
  };
  const restMs = (costMs: number): number => Math.max(polled.periodMs, costMs / MOST_SHARE);
  const spentMs = () => performance.now();
  await pollSparingly({ firstRestMs: polled.periodMs, restMs, spentMs, poll }, signal);
}

async function pollFamily(
  family: Family,
  polled: Polled,
  seen: Map<Family, Seen>,
): Promise<string | undefined> {
  const before = polled.writtenCount();
  const texts = await Promise.all(
    IPTABLES_TABLES.map((table) => saveText({ program: polled.program, family, table })),
  );
  // A read during a write may have half of it.
  if (!polled.isQuiet() || polled.writtenCount() !== before) return undefined;
  const last = seen.get(family);
  const digest = digestOf(texts);
  seen.set(family, { digest, writtenCount: before });
  if (last?.digest === digest) return undefined;
  if (last?.writtenCount === before) return `the ${family} tables changed`;
  // A part of it is our own write; a flush shows by the fixed parts, which are there with any rows.
  const missing = missingPart(texts, polled.jumps());
  return missing === undefined ? undefined : `${family} ${missing} is missing`;
}

/** A digest of rules and chains, without counters and the time. */
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
