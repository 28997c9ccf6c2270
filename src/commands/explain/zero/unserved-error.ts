import { knownOf } from '../../../explain/zero/surroundings.ts';
import { whyUnserved } from '../../../explain/zero/unserved-service.ts';
import { CommandError } from '../../command-error.ts';
import { type AskedSurroundings, surroundingsOf } from './surroundings-of.ts';

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
