import { Command, Option } from 'commander';
import { printData, printPage, printWarning } from '../../commands/terminal/print.ts';
import { systemClock } from '../../time/clock.ts';
import { dateText, spanText } from './dates.ts';
import { execInfoFrom } from './exec-info.ts';
import { lifetimeSeconds } from './lifetime.ts';
import { TOKEN_FILE } from './paths.ts';
import { isRenewalDue, tokenClaims } from './token-claims.ts';
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
