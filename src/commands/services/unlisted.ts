import { recordAt, textAt } from '../../cluster/json.ts';
import { STANDARD_INPUT } from '../../cluster/manifests/manifest-files.ts';
import { whyUnserved } from '../../explain/zero/unserved-service.ts';
import type { Basis } from '../basis/basis.ts';
import { CommandError } from '../command-error.ts';
import { objectsOfManifests } from '../explain/manifest-objects.ts';
import { serviceThere } from '../explain/zero/service-there.ts';
import { unservedError } from '../explain/zero/unserved-error.ts';
import type { Wish } from './select-rows.ts';

const MOST_NAMED = 5;

/** Services of manifests that have no row, each with the reason. */
export async function unlistedNotes(basis: Basis): Promise<readonly string[]> {
  if (basis.by === 'agent' || basis.config.settings.scope !== undefined) return [];
  const { filename } = basis.from;
  if (filename === undefined || filename.includes(STANDARD_INPUT)) return [];
  const objects = await objectsOfManifests(filename);
  const reasons = objects
    .filter((each) => textAt(each, 'kind') === 'Service')
    .filter((each) => textAt(recordAt(each, 'metadata'), 'name') !== '')
    .flatMap((each) => whyUnserved(serviceThere(each), { from: 'manifests' }) ?? []);
  const left = reasons.length - MOST_NAMED;
  return [
    ...reasons.slice(0, MOST_NAMED).map(({ text }) => `not listed: ${text}`),
    ...(left > 0 ? [`and ${left.toLocaleString('en-US')} more Services that are not listed`] : []),
  ];
}

/** A Service, or a port of it, that was asked for and has no row. */
export async function missingError(
  basis: Basis,
  { service = '', port }: Wish,
  context: string | undefined,
): Promise<CommandError> {
  const named = await unservedError({ basis, service, context });
  if (named !== undefined) return named;
  const outside = basis.config.settings.scope === undefined ? '' : ', is outside of fairlead.scope';
  const what = port === undefined ? `Service ${service}` : `port ${port} of Service ${service}`;
  return new CommandError(`${what} does not exist${outside}, or proxies do not serve it`, {
    code: 'SERVICE_NOT_FOUND',
    next: 'run `fairlead services` to list all; proxies do not serve headless and ExternalName Services',
  });
}
