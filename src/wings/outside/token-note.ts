import { parseDocument } from 'yaml';
import { systemCode } from '../../cluster/cluster-error.ts';
import { KUBECONFIG_FILE, TOKEN_FILE } from './paths.ts';
import { tokenClaims } from './token-claims.ts';
import { dateText, spanText } from './token-dates.ts';
import { textOf } from './write-files.ts';

const FILES = { token: TOKEN_FILE, kubeconfig: KUBECONFIG_FILE };

/** A line for `fairlead status`; undefined: `fairlead outside` gave this machine no token. */
export async function tokenNote(nowMs: number, files = FILES): Promise<string | undefined> {
  const claims = tokenClaims((await readableText(files.token))?.trim() ?? '');
  if (claims === undefined) return undefined;
  const leftMs = claims.expiresAtMs - nowMs;
  const when = leftMs > 0 ? `ends in ${spanText(leftMs)}` : `ended ${spanText(-leftMs)} ago`;
  const isRenewed = leftMs > 0 && hasPlugin((await readableText(files.kubeconfig)) ?? '');
  const renewed = isRenewed ? '; this machine renews it' : '';
  return `token ${when}, ${dateText(claims.expiresAtMs)}${renewed}`;
}

/** Whether the user of the kubeconfig has a credential plugin, which renews the token. */
function hasPlugin(kubeconfig: string): boolean {
  return parseDocument(kubeconfig).hasIn(['users', 0, 'user', 'exec']);
}

/** The status is not the place to report a file that cannot be read. */
async function readableText(path: string): Promise<string | undefined> {
  try {
    return await textOf(path);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
