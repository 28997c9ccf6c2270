import type { ClusterAccess } from '../../cluster/access.ts';
import { Connection } from '../../cluster/api-connection.ts';
import { ClusterError, describeError, systemCode } from '../../cluster/cluster-error.ts';
import { recordAt, textAt } from '../../cluster/json.ts';
import { RestClient } from '../../cluster/rest-client.ts';
import { CommandError } from '../../commands/command-error.ts';
import type { Clock } from '../../time/clock.ts';
import {
  askAgainAtMs,
  isRenewalDue,
  retryAtMs,
  type TokenClaims,
  tokenClaims,
} from './token-claims.ts';
import { dateText } from './token-dates.ts';
import { SECRET_FILE_MODE, textOf, writeAtomically } from './write-files.ts';

export interface RenewalOptions {
  readonly tokenFile: string;
  readonly lifetimeSeconds: number;
  /** Undefined: the cluster is not known, so that the token cannot be renewed. */
  readonly accessWith: ((token: string) => ClusterAccess) | undefined;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly onWarning: (message: string) => void;
}

export interface GivenToken {
  readonly token: string;
  /** When the caller shall ask again; undefined: the token has no end that can be read. */
  readonly askAgainAtMs: number | undefined;
}

const DEADLINE_MS = 30_000;
const HTTP_UNAUTHORIZED = 401;
const HTTP_NOT_FOUND = 404;

/**
 * The token of the file, renewed if it is due. The clock of the machine never decides that a token
 * has ended, because it may be wrong: an old token is given as long as the API server did not reject
 * it. Throws CommandError.
 */
export async function currentToken(options: RenewalOptions): Promise<GivenToken> {
  const { clock } = options;
  const token = await readToken(options.tokenFile);
  const claims = tokenClaims(token);
  if (claims === undefined) return { token, askAgainAtMs: undefined };
  if (!isRenewalDue(claims, clock.wallMs())) {
    return { token, askAgainAtMs: askAgainAtMs(claims, clock.wallMs()) };
  }
  const renewed = await renewedToken(options, { token, claims });
  if (renewed === undefined) return { token, askAgainAtMs: retryAtMs(claims, clock.wallMs()) };
  const fresh = tokenClaims(renewed);
  return {
    token: renewed,
    askAgainAtMs: fresh === undefined ? undefined : askAgainAtMs(fresh, clock.wallMs()),
  };
}

interface Held {
  readonly token: string;
  readonly claims: TokenClaims;
}

/** Undefined: not now, use the old one. */
async function renewedToken(options: RenewalOptions, held: Held): Promise<string | undefined> {
  const { accessWith, lifetimeSeconds, tokenFile, onWarning } = options;
  const end = dateText(held.claims.expiresAtMs);
  if (accessWith === undefined) {
    onWarning(`the token is not renewed, and ends ${end}: provideClusterInfo is not set`);
    return undefined;
  }
  const connection = new Connection({ access: accessWith(held.token), userAgent: 'fairlead' });
  try {
    const client = new RestClient(connection, AbortSignal.timeout(DEADLINE_MS));
    const token = await requestToken(client, { account: held.claims.account, lifetimeSeconds });
    await keep(token, { tokenFile, onWarning });
    return token;
  } catch (error) {
    if (isEnded(error)) return await replacement(options, held);
    onWarning(`the token is not renewed yet, and ends ${end}: ${describeError(error)}`);
    return undefined;
  } finally {
    connection.close();
  }
}

/** The server rejects the token, or knows no such account. */
function isEnded(error: unknown): boolean {
  if (!(error instanceof ClusterError)) return false;
  return error.status === HTTP_UNAUTHORIZED || error.status === HTTP_NOT_FOUND;
}

/** Another process may have renewed it meanwhile. */
async function replacement({ tokenFile }: RenewalOptions, held: Held): Promise<string> {
  const token = await readToken(tokenFile);
  if (token !== held.token) return token;
  const { account, expiresAtMs } = held.claims;
  throw new CommandError(
    `the API server rejects the token of ${account.namespace}/${account.name}: it ended (${dateText(expiresAtMs)}), or the ServiceAccount was deleted`,
    {
      code: 'TOKEN_ENDED',
      next: 'run `fairlead outside init --apply` again, with the kubeconfig of an administrator',
    },
  );
}

/** A token that cannot be stored is used all the same: the old one can still be renewed. */
async function keep(
  token: string,
  { tokenFile, onWarning }: Pick<RenewalOptions, 'tokenFile' | 'onWarning'>,
): Promise<void> {
  try {
    await writeAtomically(tokenFile, { text: `${token}\n`, mode: SECRET_FILE_MODE });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    onWarning(`the new token is not stored: cannot write ${tokenFile} (${systemCode(error)})`);
  }
}

export async function readToken(path: string): Promise<string> {
  const text = await readOrExplain(path);
  const token = text?.trim() ?? '';
  if (token !== '') return token;
  throw new CommandError(text === undefined ? `${path} does not exist` : `${path} is empty`, {
    code: 'TOKEN_MISSING',
    next: 'run `fairlead outside init --apply` with the kubeconfig of an administrator',
  });
}

async function readOrExplain(path: string): Promise<string | undefined> {
  try {
    return await textOf(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new CommandError(`cannot read ${path}: ${code}`, {
      code: 'TOKEN_UNREADABLE',
      next: 'run it as root: only root can read the token',
      cause: error,
    });
  }
}

interface TokenRequest {
  readonly account: { readonly namespace: string; readonly name: string };
  /** The API server may give a shorter life, as its flags have it. */
  readonly lifetimeSeconds: number;
}

/** A new token for a ServiceAccount. Throws ClusterError. */
export async function requestToken(client: RestClient, request: TokenRequest): Promise<string> {
  const { account, lifetimeSeconds } = request;
  const path = `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}/token`;
  const answer = await client.create(path, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: lifetimeSeconds },
  });
  const token = textAt(recordAt(answer, 'status'), 'token');
  if (token !== '') return token;
  throw new ClusterError('CLUSTER_MALFORMED', `create in ${path}: the response has no token`, {
    next: 'check that the server address in the kubeconfig is that of an API server',
  });
}
