import { knownOf } from '../../../explain/zero/surroundings.ts';
import { whyUnserved } from '../../../explain/zero/unserved-service.ts';
import { CommandError } from '../../command-error.ts';
import type { Grounds } from '../grounds.ts';
import { casesOf, type Inquiry, type PredictedCase } from '../inquiry.ts';
import { type AskedSurroundings, surroundingsOf } from './surroundings-of.ts';

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

/** Undefined: it does not exist, or nothing about it tells why it has no row. */
export async function unservedError(asked: AskedSurroundings): Promise<CommandError | undefined> {
  const surroundings = await surroundingsOf(asked);
  const service = knownOf(surroundings.service);
  const reason = service && whyUnserved(service, surroundings);
  if (reason === undefined) return undefined;
  return new CommandError(reason.text, {
    code: 'SERVICE_NOT_SERVED',
    next: reason.next.join('\n'),
  });
}
