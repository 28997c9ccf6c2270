import type { RestClient } from '../../../cluster/rest-client.ts';
import { type BasicFinding, good, problem } from '../../../doctor/basic-finding.ts';
import { systemClock } from '../../../time/clock.ts';
import { type TokenClaims, tokenClaims } from '../token-claims.ts';
import { dateText, spanText } from '../token-dates.ts';
import { type ClusterView, mayDo } from './cluster-view.ts';
import { check, skipped, warning } from './outside-check.ts';

const LATE =
  'renewals fail: warnings of this command and journalctl -u fairlead say why; the machine keeps trying';
const SOON_MS = 3 * 86_400_000;

/** Whether the API server answers and accepts the credentials. */
export const apiServer = check(
  'API server',
  // A failure is reported by its own error.
  async (context) => {
    const { server, version } = await context.cluster();
    return good(`${server} answers${version ? `, ${version}` : ''}; the credentials are accepted`);
  },
);

export const token = check('token', async (context) => {
  const { client, token: text } = await context.cluster();
  const claims = text === undefined ? undefined : tokenClaims(text);
  const isRenewed = claims !== undefined && (await mayRenew(client, claims));
  return judgeToken(text, { nowMs: systemClock.wallMs(), isRenewed });
});

/** `init` grants this right to exactly those accounts whose kubeconfig renews the token. */
async function mayRenew(client: RestClient, { account }: TokenClaims): Promise<boolean> {
  const right = { verb: 'create', resource: 'serviceaccounts', subresource: 'token' };
  return await mayDo(client, { ...right, ...account });
}

/** Whether the lists that Fairlead needs are allowed, and little else. */
export const rights = check('rights', async (context) => {
  const { client, services, endpoints, forbidden } = await context.cluster();
  const everything = await mayDo(client, { verb: '*', resource: '*', group: '*' });
  const secrets = everything || (await mayDo(client, { verb: 'list', resource: 'secrets' }));
  return judgeRights({ services, endpoints, forbidden, everything, secrets });
});

/** A renewed token is younger than this part of its life, unless renewals fail. */
const LATE_AFTER = 1 / 2;
const NEW_TOKEN =
  "fairlead outside init --apply, with an administrator's kubeconfig, makes a new one";

export function judgeToken(
  text: string | undefined,
  { nowMs, isRenewed }: { readonly nowMs: number; readonly isRenewed: boolean },
): BasicFinding {
  if (text === undefined) return skipped('no token: the account has a client certificate');
  const claims = tokenClaims(text);
  if (claims === undefined) return skipped('the token does not say when it ends');
  const leftMs = claims.expiresAtMs - nowMs;
  const ends = `ends ${dateText(claims.expiresAtMs)}`;
  if (leftMs <= 0) return warning(`${ends}, ${spanText(-leftMs)} ago`, NEW_TOKEN);
  const left = `${ends}, in ${spanText(leftMs)}`;
  if (isRenewed) {
    const lifeMs = claims.expiresAtMs - claims.issuedAtMs;
    if (leftMs > lifeMs * (1 - LATE_AFTER)) return good(`${left}; this machine renews it`);
    return warning(`${left}; this machine should have renewed it`, LATE);
  }
  if (leftMs > SOON_MS) return good(`${left}; it is not renewed`);
  return warning(`${left}; it is not renewed`, NEW_TOKEN);
}

export function judgeRights(
  rights: Pick<ClusterView, 'services' | 'endpoints' | 'forbidden'> & {
    readonly everything: boolean;
    readonly secrets: boolean;
  },
): BasicFinding {
  if (rights.forbidden.length > 0) {
    const next =
      'grant this account list and watch of them, as `fairlead outside init` shows, or narrow fairlead.scope';
    return problem(`not allowed to list ${rights.forbidden.join(', ')}`, next);
  }
  const seen = `lists ${rights.services.length} Services and ${rights.endpoints.length} ready endpoints`;
  if (!rights.everything && !rights.secrets) return good(`${seen}, and no secrets`);
  const more = rights.everything ? 'everything in the cluster' : 'secrets of all namespaces';
  const next = 'use an account with the least rights: fairlead outside init makes one';
  return warning(`${seen}; the account may also read ${more}`, next);
}
