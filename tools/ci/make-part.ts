import type { Part, Plan } from './part.ts';

/** As a person would type it. */
export function npm(script: string, ...args: string[]): [string, ...string[]] {
  return args.length === 0
    ? ['npm', 'run', '-s', script]
    : ['npm', 'run', '-s', script, '--', ...args];
}

/** A part with one budget: nothing in it is built by Go. */
export function part(
  name: string,
  of: { about: string; command: [string, ...string[]]; plans: readonly Plan[]; seconds: number },
): Part {
  const { about, command, plans, seconds } = of;
  return { name, about, command, plans, budget: { cached: seconds, cold: seconds } };
}

export const BOTH = ['run', 'nightly'] as const;
export const RUN = ['run'] as const;
export const NIGHTLY = ['nightly'] as const;
