import type { Answer } from './api-answer.ts';
import { HTTP_OK, readBody, readRejection } from './api-rejection.ts';
import { ClusterError } from './cluster-error.ts';
import { isRecord, parseJson, textAt } from './json.ts';
import type { GapReason, ServerReport } from './server-report.ts';

/** The part of a connection that is needed here. */
export interface JsonGetter {
  getJson(path: string, signal: AbortSignal): Promise<Answer>;
}

export type ServerVersion = Pick<ServerReport, 'version' | 'emulatedBy'>;

/** Untrusted, and printed: limit its length. */
const VERSION = /^v[\w.+-]{1,63}$/;
const HTTP_NOT_FOUND = 404;
const NUMBER = /^\d{1,4}$/;

/** Empty when the server sends no version. Throws ClusterError when the request fails. */
export async function readServerVersion(
  getter: JsonGetter,
  signal: AbortSignal,
): Promise<ServerVersion> {
  const answer = await getter.getJson('/version', signal);
  if (answer.status !== HTTP_OK) throw await readRejection(answer, 'get /version');
  return versionIn((await readBody(answer)).toString());
}

export function versionIn(text: string): ServerVersion {
  const value = parseJson(text)?.value;
  if (!isRecord(value)) return {};
  const program = textAt(value, 'gitVersion');
  if (!VERSION.test(program)) return {};
  const [major, minor] = [textAt(value, 'emulationMajor'), textAt(value, 'emulationMinor')];
  const emulated = `v${major}.${minor}`;
  const isEmulating =
    NUMBER.test(major) && NUMBER.test(minor) && !`${program}.`.startsWith(`${emulated}.`);
  return isEmulating ? { version: emulated, emulatedBy: program } : { version: program };
}

/**
 * Distinguishes a forbidden resource from a missing one: the built-in roles name only resources of
 * their version, and permissions are checked first.
 */
export async function whyForbidden(
  getter: JsonGetter,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<GapReason> {
  try {
    for (const path of paths) if (await mayBeServed(getter, path, signal)) return 'forbidden';
    return 'not served';
  } catch (error) {
    // Discovery failed: keep the first response.
    if (signal.aborted || error instanceof ClusterError) return 'forbidden';
    throw error;
  }
}

/** By discovery, which the role system:discovery lets every authenticated user read. */
async function mayBeServed(
  getter: JsonGetter,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  const slash = path.lastIndexOf('/');
  const answer = await getter.getJson(path.slice(0, slash), signal);
  const body = await readBody(answer);
  if (answer.status === HTTP_NOT_FOUND) return false;
  const value = answer.status === HTTP_OK ? parseJson(body.toString())?.value : undefined;
  if (!isRecord(value) || !Array.isArray(value['resources'])) return true;
  const name = path.slice(slash + 1);
  return value['resources'].some((each) => isRecord(each) && each['name'] === name);
}
