import { readFile, writeFile } from 'node:fs/promises';

/** The kernel did not let us say how dear we are to it. We run all the same. */
export class OomScoreError extends Error {
  override readonly name = 'OomScoreError';
  readonly code = 'OOM_SCORE';
  readonly next =
    'to lower it takes the capability SYS_RESOURCE; or set oomScoreAdj to what the process has';
}

export interface OomScoreRequest {
  /** From -1000, never ended for want of memory, to 1000. */
  readonly score: number;
  readonly onProblem: (error: OomScoreError) => void;
  readonly path?: string;
}

/** Tells the kernel how willingly to end this process when memory runs out; whether it took it. */
export async function setOomScore(request: OomScoreRequest): Promise<boolean> {
  const { score, onProblem, path = '/proc/self/oom_score_adj' } = request;
  try {
    if (Number(await readFile(path, 'utf8')) === score) return true;
    await writeFile(path, String(score));
    return true;
  } catch (cause) {
    onProblem(new OomScoreError(`${path} could not be set to ${score}`, { cause }));
    return false;
  }
}
