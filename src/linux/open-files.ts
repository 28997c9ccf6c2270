import { readFileSync } from 'node:fs';

const LIMIT = /^Max open files\s+(\d+|unlimited)/m;
/** The kernel's default for a process without an explicit limit. */
const USUAL_LIMIT = 1024;

/** How many file descriptors this process may have; Node has raised it as far as it may. */
export function openFileLimit(limits = readFileSync('/proc/self/limits', 'utf8')): number {
  const [, text] = LIMIT.exec(limits) ?? [];
  if (text === 'unlimited') return Number.POSITIVE_INFINITY;
  return text === undefined ? USUAL_LIMIT : Number(text);
}
