import { systemCode } from '../../cluster/errors.ts';
import { dateText, spanText } from './dates.ts';
import { textOf } from './files.ts';
import { TOKEN_FILE } from './paths.ts';
import { tokenClaims } from './token-claims.ts';

/** A line for `fairlead status`; undefined: `fairlead outside` gave this machine no token. */
export async function tokenNote(nowMs: number, path = TOKEN_FILE): Promise<string | undefined> {
  const claims = tokenClaims((await readableText(path))?.trim() ?? '');
  if (claims === undefined) return undefined;
  const leftMs = claims.expiresAtMs - nowMs;
  const when = leftMs > 0 ? `ends in ${spanText(leftMs)}` : `ended ${spanText(-leftMs)} ago`;
  return `token ${when}, ${dateText(claims.expiresAtMs)}`;
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
