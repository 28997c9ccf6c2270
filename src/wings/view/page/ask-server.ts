import type { Problem } from '../protocol/common.ts';

export type Answered<T> =
  | { readonly is: 'answer'; readonly value: T }
  | { readonly is: 'problem'; readonly problem: Problem };

/** Asks the server of this page; undefined: it was aborted. */
export async function ask<T>(
  path: string,
  params: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Answered<T> | undefined> {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given as [string, string][]).toString();
  try {
    const response = await fetch(query === '' ? path : `${path}?${query}`, { signal });
    const body: unknown = await response.json();
    if (response.ok) return { is: 'answer', value: body as T };
    return { is: 'problem', problem: isProblem(body) ? body : unexplained(response.status) };
  } catch (error) {
    if (signal.aborted) return undefined;
    return { is: 'problem', problem: unreachable(error) };
  }
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'message' in body && 'code' in body;
}

function unexplained(status: number): Problem {
  return { code: `HTTP_${status}`, message: `the server answered with status ${status}` };
}

function unreachable(error: unknown): Problem {
  return {
    code: 'VIEW_UNREACHABLE',
    message: `fairlead view does not answer: ${error instanceof Error ? error.message : 'unknown error'}`,
    next: 'check that the command still runs',
  };
}
