import type { TestContext } from 'node:test';
import type { Command } from 'commander';
import { runProgram } from '../../program.ts';

export interface CommandRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process, and gives what it printed. */
export async function runCommand(
  t: TestContext,
  command: Command,
  args: readonly string[],
): Promise<CommandRun> {
  const out: string[] = [];
  const err: string[] = [];
  const log = t.mock.method(console, 'log', (text: string) => out.push(text));
  const error = t.mock.method(console, 'error', (text: string) => err.push(text));
  const { exitCode } = process;
  process.exitCode = undefined;
  try {
    const code = await runProgram(async () => [command], [command.name(), ...args]);
    return { code, out: out.join('\n'), err: err.join('\n') };
  } finally {
    process.exitCode = exitCode;
    log.mock.restore();
    error.mock.restore();
  }
}
