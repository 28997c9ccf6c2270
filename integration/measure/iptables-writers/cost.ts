import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds; `its`: of the programs that we have started and that still run. */
export interface Cost {
  readonly ownUser: number;
  readonly ownKernel: number;
  readonly itsUser: number;
  readonly itsKernel: number;
  readonly wall: number;
}

/** The cost of one of several repetitions. */
export async function measured(
  times: number,
  turn: (index: number) => Promise<void>,
): Promise<Cost> {
  const [own, its, begunMs] = [process.cpuUsage(), childrenMs(), performance.now()];
  for (let index = 0; index < times; index++) await turn(index);
  const wall = performance.now() - begunMs;
  const [ownAfter, itsAfter] = [process.cpuUsage(own), childrenMs()];
  return {
    ownUser: ownAfter.user / 1000 / times,
    ownKernel: ownAfter.system / 1000 / times,
    itsUser: (itsAfter.user - its.user) / times,
    itsKernel: (itsAfter.kernel - its.kernel) / times,
    wall: wall / times,
  };
}

/** The kernel counts in hundredths of a second (USER_HZ). */
const TICK_MS = 10;
const FIELD = { parent: 1, user: 11, kernel: 12 } as const;

function childrenMs(): { user: number; kernel: number } {
  const sum = { user: 0, kernel: 0 };
  for (const name of readdirSync('/proc')) {
    const fields = /^\d+$/.test(name) ? statOf(name) : undefined;
    if (fields?.[FIELD.parent] !== process.pid) continue;
    sum.user += (fields[FIELD.user] ?? 0) * TICK_MS;
    sum.kernel += (fields[FIELD.kernel] ?? 0) * TICK_MS;
  }
  return sum;
}

/** The numbers that follow the name of the program, which may hold anything. */
function statOf(processId: string): number[] | undefined {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, 'latin1');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    // It has ended since the folder was read.
    return undefined;
  }
}
