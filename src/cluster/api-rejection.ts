import type { Answer } from './api-answer.ts';
import { ClusterError } from './cluster-error.ts';
import type { StatusObject } from './watch-event.ts';

export const HTTP_OK = 200;
const HTTP_UNAUTHORIZED = 401;
const HTTP_FORBIDDEN = 403;
const HTTP_NOT_FOUND = 404;
const HTTP_GONE = 410;
const HTTP_TOO_MANY = 429;

const MAX_BYTES = 64 * 1024;
const SILENCE_MS = 5_000;

const BIND_PROXIER = 'bind this user to the ClusterRole system:node-proxier (a ClusterRoleBinding)';

/** Reads the reason of an error status. `whenForbidden`: the rights to grant, as text. */
export async function readRejection(
  answer: Answer,
  what: string,
  whenForbidden?: string,
): Promise<ClusterError> {
  const status = answer.encoding.readStatus(await readBody(answer));
  const retryAfterMs = answer.retryAfterMs ?? status.retryAfterMs;
  return rejection(what, { ...status, code: answer.status, retryAfterMs }, whenForbidden);
}

/** The body, up to a limit. */
export async function readBody(answer: Answer): Promise<Buffer> {
  answer.limitSilence(SILENCE_MS);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer.body()) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) break;
    }
  } catch (error) {
    // `next` depends on the status only; the body may be missing.
    if (!(error instanceof ClusterError)) throw error;
  }
  return Buffer.concat(chunks);
}

/** The error for a status, of a response or in a watch stream. */
export function rejection(
  what: string,
  status: StatusObject,
  whenForbidden: string = BIND_PROXIER,
): ClusterError {
  const isGone = status.code === HTTP_GONE || status.reason === 'Expired';
  const words = new Set([String(status.code), status.reason, status.message]);
  words.delete('');
  const answer = `the API server responded ${[...words].join(' ')}`;
  // Authentication failed: the same for every resource.
  const message = status.code === HTTP_UNAUTHORIZED ? answer : `${what}: ${answer}`;
  return new ClusterError(isGone ? 'CLUSTER_GONE' : 'CLUSTER_ANSWER', message, {
    next: status.code === HTTP_FORBIDDEN ? whenForbidden : nextAfter(status.code),
    status: status.code,
    retryAfterMs: status.retryAfterMs,
  });
}

function nextAfter(code: number): string {
  switch (code) {
    case HTTP_UNAUTHORIZED:
      return 'renew the token or client certificate in the kubeconfig: it is invalid or expired';
    case HTTP_NOT_FOUND:
      return 'check that this Kubernetes version serves the resource, and that the address is that of an API server';
    case HTTP_GONE:
      return 'no action needed: the list is read again';
    case HTTP_TOO_MANY:
      return 'retried automatically; if it persists, the API server is overloaded';
    default:
      return "retried automatically; if it persists, check the API server's log";
  }
}
