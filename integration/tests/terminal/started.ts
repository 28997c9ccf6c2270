import { join } from 'node:path';
import { tryRun } from '../../../lab/host/run.ts';

export const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const DEADLINE_MS = 60_000;

export interface Started {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program as a process of its own, from a path of the caller's choice. */
export async function started(program: string, args: readonly string[]): Promise<Started> {
  const { exitCode, stdout, stderr } = await tryRun([process.execPath, program, ...args], {
    deadlineMs: DEADLINE_MS,
  });
  return { exitCode, stdout, stderr };
}

export function firstLine(text: string): string {
  return text.slice(0, text.indexOf('\n'));
}
