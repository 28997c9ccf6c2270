import { ServerError } from '../../agent/servers/server-error.ts';
import { CommandError } from '../../commands/command-error.ts';
import type { Problem } from './protocol/common.ts';

/** A request that is not answered, with its status code. */
export class ViewProblem extends Error {
  override readonly name = 'ViewProblem';
  readonly status: number;
  readonly problem: Problem;

  constructor(status: number, problem: Problem) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
  }
}

const STATUS = { badRequest: 400, notFound: 404, internal: 500, badGateway: 502 } as const;

/** Codes of commands that say that something does not exist. */
const NOT_FOUND: ReadonlySet<string> = new Set([
  'SERVICE_NOT_FOUND',
  'POD_NOT_FOUND',
  'PORT_NOT_DECLARED',
]);

/** What the page is told of an error. */
export function problemOf(error: unknown): { readonly status: number; readonly problem: Problem } {
  if (error instanceof ViewProblem) return error;
  if (error instanceof ServerError) {
    const { code, message, next } = error;
    return { status: STATUS.badGateway, problem: { code, message, next } };
  }
  if (error instanceof CommandError) {
    const { code, message, next } = error;
    return { status: statusOf(code), problem: { code, message, next } };
  }
  return {
    status: STATUS.internal,
    problem: {
      code: 'INTERNAL',
      message: 'the request failed by an error of Fairlead',
      next: 'standard error of `fairlead view` has the details',
    },
  };
}

function statusOf(code: string): number {
  if (code === 'USAGE') return STATUS.badRequest;
  return NOT_FOUND.has(code) ? STATUS.notFound : STATUS.badGateway;
}
