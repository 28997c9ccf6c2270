import type { Mode } from '../../config/modes.ts';
import { type KernelFrontend, PlaneError } from '../../dataplanes/contract.ts';
import type { Restored } from '../../linux/sysctl-state.ts';
import { CommandError } from '../command-error.ts';
import { PLANE_PARTS, type PlanePart, partsOfMode } from '../run/plane.ts';
import { printPage, printWarning } from '../terminal/print.ts';

export interface WhatToClean {
  readonly keepFlows?: true;
  /** Only what this mode has written; all when not given. */
  readonly mode?: Mode;
}

/** What a machine can be freed of. */
export interface CleanableMachine {
  /** Gives the addresses that were translated; undefined: the part cannot be here. */
  removePart(part: PlanePart): Promise<readonly KernelFrontend[] | undefined>;
  removeFlows(frontends: readonly KernelFrontend[]): Promise<number>;
  restoreSettings(): Promise<Restored>;
}

/**
 * Takes away the parts, then what they have changed beside, unless another proxy lives on it. What
 * fails keeps nothing else from going; it is told at once, and all together at the end.
 */
export async function cleanMachine(
  { mode, keepFlows }: WhatToClean,
  machine: CleanableMachine,
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
  for (const part of mode === undefined ? PLANE_PARTS : partsOfMode(mode)) {
    await attempt(part, async () => {
      const removed = await machine.removePart(part);
      frontends.push(...(removed ?? []));
      printPage(`${part}: ${removed ? 'removed' : 'its programs are not installed here'}`);
    });
  }
  // Whoever takes over wants the same settings, found them as they are, and so never set them.
  if (keepFlows || mode !== undefined) {
    printPage('tracked connections, kernel settings: left to the proxy that takes over');
  } else {
    await attempt('tracked connections', async () => {
      printPage(`tracked connections: ${await machine.removeFlows(frontends)} deleted`);
    });
    await attempt('kernel settings', () => restore(machine));
  }
  if (failures.length > 0) throw incomplete(failures);
}

async function restore(machine: CleanableMachine): Promise<void> {
  const { changes, leftAlone, problems } = await machine.restoreSettings();
  for (const { name, before, after } of changes) printPage(`${name}: ${before} -> ${after}`);
  for (const name of leftAlone) printPage(`${name}: changed by somebody else, left alone`);
  for (const problem of problems) printWarning(problem.message);
  const what = `${problems.length} could not be put back`;
  if (problems.length > 0) throw new AggregateError(problems, what);
}

function describe(error: unknown): string {
  if (error instanceof PlaneError) return `${error.message}; ${error.next}`;
  return error instanceof Error ? error.message : String(error);
}

function incomplete(failures: readonly unknown[]): CommandError {
  return new CommandError('not everything could be removed', {
    code: 'CLEANUP_INCOMPLETE',
    next: 'see the warnings above, and run it again',
    cause: new AggregateError(failures),
  });
}
