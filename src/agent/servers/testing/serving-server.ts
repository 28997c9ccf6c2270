import assert from 'node:assert/strict';
import { ConnectionBudget, limitsFor } from '../connection-budget.ts';
import type { ConnectionOptions } from '../http-connection.ts';
import type { Handler } from '../reply.ts';

const OPEN_FILES = 20_000;

export function budgetOfTest(): ConnectionBudget {
  return new ConnectionBudget(limitsFor(OPEN_FILES));
}

/** For a server that is expected to have no problems. */
export function serving(handler: Handler): ConnectionOptions {
  return { handler, budget: budgetOfTest(), onProblem: assert.ifError };
}
