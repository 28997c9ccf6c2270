import { CommandError } from '../../command-error.ts';
import type { Grounds } from '../grounds.ts';
import { casesOf, type Inquiry, type PredictedCase } from '../inquiry.ts';
import { unservedError } from './unserved-error.ts';

/** All cases; a Service that exists and has no row is named with the reason. Throws CommandError. */
export async function namedCasesOf(
  inquiry: Inquiry,
  grounds: Grounds,
): Promise<readonly [PredictedCase, ...PredictedCase[]]> {
  const { basis, target, around } = inquiry;
  try {
    return casesOf(inquiry, grounds);
  } catch (error) {
    const isUnknown = error instanceof CommandError && error.code === 'SERVICE_NOT_FOUND';
    if (!isUnknown || target.by !== 'service' || around === undefined) throw error;
    const { service } = target;
    throw (await unservedError({ basis, service, context: around.context })) ?? error;
  }
}
