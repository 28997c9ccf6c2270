import { LabError } from './errors.ts';

const EXIT_INTERRUPTED = 130;

/**
 * Says what failed in a program of the test beds and what to do next, and ends it. It does not wait
 * for what an interruption left running in a removed lab. Any other error is thrown on.
 */
export function exitOnLabError(
  error: unknown,
  of: { readonly program: string; readonly exitCode: number; readonly more?: string | undefined },
): never {
  if (!(error instanceof LabError)) throw error;
  console.error(`${of.program}: ${error.message}\n  next: ${error.next}  [${error.code}]`);
  if (of.more !== undefined) console.error(`  ${of.more}`);
  process.exit(error.code === 'LAB_INTERRUPTED' ? EXIT_INTERRUPTED : of.exitCode);
}
