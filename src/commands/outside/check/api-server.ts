import { systemClock } from '../../../time/clock.ts';
import { dateText, spanText } from '../dates.ts';
import { tokenClaims } from '../token-claims.ts';
import { type Check, type Finding, good, problem, skipped, warning } from './check.ts';
import { type ClusterView, mayDo } from './cluster-view.ts';

const SOON_MS = 3 * 86_400_000;

/** Whether the API server answers and accepts the credentials. */
export const apiServer: Check = {
  name: 'API server',
  // A failure is reported by its own error.
  run: async (context) => {
    const { server, version } = await context.cluster();
    return good(`${server} answers${version ? `, ${version}` : ''}; the credentials are accepted`);
  },
};

export const token: Check = {
  name: 'token',
  run: async (context) => judgeToken((await context.cluster()).token, systemClock.wallMs()),
};

/** Whether the lists that Fairlead needs are allowed, and little else. */
export const rights: Check = {
  name: 'rights',
  run: async (context) => {
    const { client, services, endpoints, forbidden } = await context.cluster();
    const everything = await mayDo(client, { verb: '*', resource: '*', group: '*' });
    const secrets = everything || (await mayDo(client, { verb: 'list', resource: 'secrets' }));
    return judgeRights({ services, endpoints, forbidden, everything, secrets });
  },
};

export function judgeToken(text: string | undefined, nowMs: number): Finding {
  if (text === undefined) return skipped('no token: the account has a client certificate');
  const claims = tokenClaims(text);
  if (claims === undefined) return skipped('the token does not say when it ends');
  const leftMs = claims.expiresAtMs - nowMs;
  const ends = `ends ${dateText(claims.expiresAtMs)}`;
  // One with a short life is renewed long before its half.
  const soonMs = Math.min(SOON_MS, (claims.expiresAtMs - claims.issuedAtMs) / 2);
  if (leftMs > soonMs) return good(`${ends}, in ${spanText(leftMs)}`);
  const left = leftMs > 0 ? `in ${spanText(leftMs)}` : `${spanText(-leftMs)} ago`;
  return warning(`${ends}, ${left}`, 'renew it: fairlead outside init --apply makes a new one');
}

export function judgeRights(
  of: Pick<ClusterView, 'services' | 'endpoints' | 'forbidden'> & {
    readonly everything: boolean;
    readonly secrets: boolean;
  },
): Finding {
  if (of.forbidden.length > 0) {
    const next =
      'grant this account list and watch of them, as `fairlead outside init` shows, or narrow fairlead.scope';
    return problem(`not allowed to list ${of.forbidden.join(', ')}`, next);
  }
  const seen = `lists ${of.services.length} Services and ${of.endpoints.length} ready endpoints`;
  if (!of.everything && !of.secrets) return good(`${seen}, and no secrets`);
  const more = of.everything ? 'everything in the cluster' : 'secrets of all namespaces';
  const next = 'use an account with the least rights: fairlead outside init makes one';
  return warning(`${seen}; the account may also read ${more}`, next);
}
