import type { Answer } from './api-answer.ts';
import { readRejection } from './api-rejection.ts';

/** The part of a connection that createObject needs. */
export interface Poster {
  post(path: string, body: object, signal: AbortSignal): Promise<Answer>;
}

export interface Creation {
  /** Path of the collection, such as `/api/v1/namespaces/default/events`. */
  readonly path: string;
  readonly object: object;
}

const HTTP_OK = 200;
const HTTP_MULTIPLE_CHOICES = 300;

/** Creates one object. Throws ClusterError when the server is unreachable or rejects it. */
export async function createObject(
  poster: Poster,
  { path, object }: Creation,
  signal: AbortSignal,
): Promise<void> {
  const answer = await poster.post(path, object, signal);
  if (answer.status < HTTP_OK || answer.status >= HTTP_MULTIPLE_CHOICES) {
    throw await readRejection(answer, `create in ${path}`);
  }
  answer.discard();
}
