import { Command, InvalidArgumentError, Option } from 'commander';
import type { ClusterAccess } from '../../cluster/access.ts';
import { booleanAt, isRecord, parseJson, recordAt, textAt } from '../../cluster/json.ts';
import { Secret } from '../../cluster/secret.ts';
import { printData, printPage, printWarning } from '../../commands/terminal/print.ts';
import { parseDurationMs } from '../../config/duration.ts';
import { systemClock } from '../../time/clock.ts';
import { TOKEN_FILE } from './paths.ts';
import { isRenewalDue, tokenClaims } from './token-claims.ts';
import { dateText, spanText } from './token-dates.ts';
import { currentToken, readToken } from './token-renewal.ts';

interface TokenOptions {
  readonly tokenFile: string;
  /** Seconds. */
  readonly lifetime: number;
}

/** `fairlead outside token`: the credential plugin of the kubeconfig that `init` writes. */
export function tokenCommand(): Command {
  return new Command('token')
    .description(
      'give the token of this machine to a client, and renew it in time (credential plugin of the kubeconfig); started by hand, say when it ends',
    )
    .option('--token-file <path>', 'the file that has the token', TOKEN_FILE)
    .addOption(
      new Option('--lifetime <duration>', 'the life to ask for when it is renewed')
        .argParser(lifetimeSeconds)
        .default(lifetimeSeconds('720h'), '720h, 30 days'),
    )
    .action(giveToken);
}

async function giveToken({ tokenFile, lifetime }: TokenOptions): Promise<void> {
  const info = execInfoFrom(process.env['KUBERNETES_EXEC_INFO']);
  if (info === undefined) {
    printPage(aboutToken(await readToken(tokenFile), systemClock.wallMs()));
    return;
  }
  const { token, askAgainAtMs } = await currentToken({
    tokenFile,
    lifetimeSeconds: lifetime,
    accessWith: info.accessWith,
    clock: systemClock,
    onWarning: printWarning,
  });
  const status = {
    token,
    ...(askAgainAtMs === undefined ? {} : { expirationTimestamp: timestamp(askAgainAtMs) }),
  };
  printData(JSON.stringify({ kind: 'ExecCredential', apiVersion: info.apiVersion, status }));
}

/** For a person: no secret on the terminal. */
export function aboutToken(token: string, nowMs: number): string {
  const claims = tokenClaims(token);
  if (claims === undefined) return 'the token does not say when it ends';
  const { account, expiresAtMs, issuedAtMs } = claims;
  const leftMs = expiresAtMs - nowMs;
  const left = leftMs > 0 ? `in ${spanText(leftMs)}` : `${spanText(-leftMs)} ago`;
  const ends = leftMs > 0 ? 'ends' : 'ended';
  const due = isRenewalDue(claims, nowMs) ? '; due for renewal at the next use' : '';
  return [
    `the token of ${account.namespace}/${account.name} ${ends} ${left}, ${dateText(expiresAtMs)}${due}`,
    `issued ${dateText(issuedAtMs)}, for ${spanText(expiresAtMs - issuedAtMs)}`,
  ].join('\n');
}

function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** What the caller of a credential plugin tells it, by KUBERNETES_EXEC_INFO. */
interface ExecInfo {
  readonly apiVersion: string;
  /** How to reach the cluster with a token; undefined: the caller did not say. */
  readonly accessWith: ((token: string) => ClusterAccess) | undefined;
}

/** Undefined: not called as a plugin. */
export function execInfoFrom(text: string | undefined): ExecInfo | undefined {
  const value = parseJson(text ?? '')?.value;
  if (!isRecord(value) || value['kind'] !== 'ExecCredential') return undefined;
  const cluster = recordAt(recordAt(value, 'spec'), 'cluster');
  const server = textAt(cluster, 'server');
  const apiVersion = textAt(value, 'apiVersion');
  if (!URL.canParse(server)) return { apiVersion, accessWith: undefined };
  const authority = textAt(cluster, 'certificate-authority-data');
  const serverName = textAt(cluster, 'tls-server-name');
  const proxyUrl = textAt(cluster, 'proxy-url');
  const tls = {
    isUnverified: booleanAt(cluster, 'insecure-skip-tls-verify') === true,
    ...(serverName === '' ? {} : { serverName }),
    ...(authority === ''
      ? {}
      : { certificateAuthority: Buffer.from(authority, 'base64').toString('utf8') }),
  };
  return {
    apiVersion,
    accessWith: (token) => ({
      server: new URL(server),
      ...(proxyUrl === '' ? {} : { proxyUrl: new Secret(proxyUrl) }),
      tls: async () => tls,
      token: async () => new Secret(token),
      rejected: () => undefined,
      warnings: async () => [],
    }),
  };
}

/** The API server accepts no shorter life. */
const LEAST_SECONDS = 600;
const DAYS = /^(\d{1,4})d$/;
const HOURS_OF_A_DAY = 24;

/** The life of a token in seconds, from `30d` or a duration such as `720h`. */
export function lifetimeSeconds(text: string): number {
  const days = DAYS.exec(text)?.[1];
  const ms = parseDurationMs(days === undefined ? text : `${Number(days) * HOURS_OF_A_DAY}h`);
  const seconds = Math.floor((ms ?? 0) / 1000);
  if (seconds >= LEAST_SECONDS) return seconds;
  throw new InvalidArgumentError('Use a duration such as 30d or 12h, at least 10m.');
}
