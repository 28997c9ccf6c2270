import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';

/** oom_score_adj could not be set. The process continues. */
export class OomScoreError extends Error {
  override readonly name = 'OomScoreError';
  readonly code = 'OOM_SCORE';
  readonly next =
    'add CAP_SYS_RESOURCE, which lowering the score needs, or set oomScoreAdj to the current value';
}

export interface OomScoreRequest {
  /** From -1000 (never killed when memory runs out) to 1000. */
  readonly score: number;
  readonly onProblem: (error: OomScoreError) => void;
  readonly path?: string;
}

/** Sets oom_score_adj; returns whether it succeeded. */
export async function setOomScore(request: OomScoreRequest): Promise<boolean> {
  const { score, onProblem, path = '/proc/self/oom_score_adj' } = request;
  try {
    if (Number(await readFile(path, 'utf8')) === score) return true;
    await writeFile(path, String(score));
    return true;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    onProblem(new OomScoreError(`cannot set ${path} to ${score}: ${reason}`, { cause }));
    return false;
  }
}

const LIMIT = /^Max open files\s+(\d+|unlimited)/m;
/** The kernel's default for a process without an explicit limit. */
const USUAL_LIMIT = 1024;

/** How many file descriptors this process may have; Node has raised it as far as it may. */
export function openFileLimit(limits = readFileSync('/proc/self/limits', 'utf8')): number {
  const [, text] = LIMIT.exec(limits) ?? [];
  if (text === 'unlimited') return Number.POSITIVE_INFINITY;
  return text === undefined ? USUAL_LIMIT : Number(text);
}
