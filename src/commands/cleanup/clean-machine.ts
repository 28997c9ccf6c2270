import type { ModeName } from '../../config/modes.ts';
import { type Holding, type KernelFrontend, PlaneError } from '../../dataplanes/contract.ts';
import type { Restored } from '../../linux/sysctl-state.ts';
import { allParts, modeNamed } from '../../modes/mode-registry.ts';
import type { Part } from '../../modes/part.ts';
import { CommandError } from '../command-error.ts';
import { printPage, printWarning } from '../terminal/print.ts';

export interface WhatToClean {
  readonly keepFlows?: true;
  /** Only what this mode has written; default: all modes. */
  readonly mode?: ModeName;
  /** Show what would be removed; `CleanableMachine` then changes nothing. */
  readonly dryRun?: true;
}

/** What one part had in the kernel. */
export interface RemovedPart {
  readonly holdings: readonly Holding[];
  /** Translated addresses. */
  readonly frontends: readonly KernelFrontend[];
}

/** The operations of a cleanup. */
export interface CleanableMachine {
  /** Undefined: the part cannot exist on this machine. */
  removePart(part: Part): Promise<RemovedPart | undefined>;
  /** The ranges to which Fairlead made a route. */
  removeRoutes(): Promise<readonly string[]>;
  removeFlows(frontends: readonly KernelFrontend[]): Promise<number>;
  restoreSettings(): Promise<Restored>;
  /** The socket of an agent that was killed; false: there is none, or an agent listens on it. */
  removeSocket(): Promise<boolean>;
}

/**
 * Removes the parts, then conntrack entries and settings, unless another proxy takes over. A
 * failure does not stop the rest; it is reported immediately, and as an error at the end.
 */
export async function cleanMachine(
  { mode, keepFlows, dryRun }: WhatToClean,
  machine: CleanableMachine,
  say: (text: string) => void = printPage,
): Promise<void> {
  const failures: unknown[] = [];
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      failures.push(error);
      printWarning(`${what}: ${describe(error)}`);
    }
  };
  const frontends: KernelFrontend[] = [];
  for (const part of mode === undefined ? await allParts() : (await modeNamed(mode)).parts) {
    await attempt(part.name, async () => {
      const removed = await machine.removePart(part);
      frontends.push(...(removed?.frontends ?? []));
      say(`${part.name}: ${removedText(removed, dryRun)}`);
    });
  }
  // The next proxy wants the same settings and has not saved them: do not restore them.
  if (keepFlows || mode !== undefined) {
    say('routes, conntrack entries, kernel settings: kept for the proxy that takes over');
  } else {
    await attempt('routes', async () => {
      const ranges = await machine.removeRoutes();
      say(`routes: ${routesText(ranges, dryRun)}`);
    });
    await attempt('conntrack entries', async () => {
      const count = await machine.removeFlows(frontends);
      say(`conntrack entries: ${countText(count, { dryRun, word: 'delete' })}`);
    });
    await attempt('kernel settings', () => restore(machine, { dryRun, say }));
  }
  await attempt('status socket', async () => {
    const verb = dryRun ? 'would remove' : 'removed';
    if (await machine.removeSocket())
      say(`status socket: ${verb} that of an agent that was killed`);
  });
  if (failures.length > 0) throw incomplete(failures);
}

function removedText(removed: RemovedPart | undefined, dryRun: true | undefined): string {
  if (removed === undefined)
    return 'nothing to remove: its programs are not installed on this machine';
  if (removed.holdings.length === 0) return 'nothing to remove';
  const counts = removed.holdings.map(holdingText).join(', ');
  return `${dryRun ? 'would remove' : 'removed'} ${counts}`;
}

function routesText(ranges: readonly string[], dryRun: true | undefined): string {
  if (ranges.length === 0) return 'nothing to remove';
  return `${dryRun ? 'would remove' : 'removed'} ${ranges.join(', ')}`;
}

function countText(
  count: number,
  { dryRun, word }: { dryRun: true | undefined; word: string },
): string {
  if (count === 0) return `nothing to ${word}`;
  return dryRun ? `would ${word} ${count}` : `${word}d ${count}`;
}

async function restore(
  machine: CleanableMachine,
  { dryRun, say }: { dryRun: true | undefined; say: (text: string) => void },
): Promise<void> {
  const { changes, leftAlone, problems } = await machine.restoreSettings();
  if (changes.length + leftAlone.length + problems.length === 0) {
    say('kernel settings: nothing to restore');
  }
  const what = dryRun ? 'would be restored: ' : '';
  for (const { name, before, after } of changes) {
    say(`${name}: ${what}${before} -> ${after}`);
  }
  for (const name of leftAlone) say(`${name}: changed by another process, not restored`);
  for (const problem of problems) printWarning(problem.message);
  const failed = `${problems.length} kernel settings could not be restored`;
  if (problems.length > 0) throw new AggregateError(problems, failed);
}

function describe(error: unknown): string {
  if (error instanceof PlaneError) return `${error.message}; ${error.next}`;
  return error instanceof Error ? error.message : String(error);
}

function incomplete(failures: readonly unknown[]): CommandError {
  return new CommandError('cleanup is incomplete', {
    code: 'CLEANUP_INCOMPLETE',
    next: 'fix the problems in the warnings above, and run the command again',
    cause: new AggregateError(failures),
  });
}

/** `1 process`, `2 tables`. */
export function holdingText({ what, count }: Holding): string {
  return `${count} ${count === 1 ? what.replace(/(?<=ss)es$|s$/, '') : what}`;
}
