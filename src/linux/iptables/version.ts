import { runProgramToEnd } from '../run-program.ts';

const DEADLINE_MS = 10_000;

/** `[1, 8, 9]`; undefined: the output has no version. */
export async function programVersion(program: string): Promise<readonly number[] | undefined> {
  const { stdout } = await runProgramToEnd({
    command: program,
    args: ['iptables', '--version'],
    env: {},
    timeoutMs: DEADLINE_MS,
  });
  return parseVersion(stdout);
}

export function parseVersion(text: string): readonly number[] | undefined {
  const found = /\bv(\d+(?:\.\d+)+)/.exec(text)?.[1];
  return found?.split('.').map(Number);
}

export function isAtLeast(version: readonly number[], least: readonly number[]): boolean {
  for (const [index, wanted] of least.entries()) {
    const part = version[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}
