import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AccessWarning } from '../access.ts';
import { systemCode } from '../cluster-error.ts';
import { textAt } from '../json.ts';
import { SERVICE_ACCOUNT_FOLDER } from './in-cluster.ts';
import type { Entry } from './kubeconfig-file.ts';
import { fileAt, type Material } from './material.ts';
import { plainHttpWarnings } from './plain-http.ts';

export interface KubeconfigParts {
  readonly cluster: Entry;
  /** Undefined: anonymous. */
  readonly user: Entry | undefined;
  readonly server: URL;
}

/** Warnings about unsafe settings of a kubeconfig. Checked once, at the start. */
export async function kubeconfigWarnings(parts: KubeconfigParts): Promise<AccessWarning[]> {
  const { cluster, user, server } = parts;
  const warnings: AccessWarning[] = plainHttpWarnings(server);
  if (cluster.value['insecure-skip-tls-verify'] === true && server.protocol === 'https:') {
    warnings.push({
      code: 'API_SERVER_UNVERIFIED',
      message: `insecure-skip-tls-verify: the certificate of ${server.host} is not verified, so any host on the path can impersonate the API server and steal the token`,
      next: `remove it from ${cluster.file}, and set certificate-authority (and tls-server-name if the host name differs)`,
    });
  }
  for (const { path, what } of user === undefined ? [] : secretFiles(user)) {
    if (await isReadableByEverybody(path)) warnings.push(exposed(path, what));
  }
  return warnings;
}

interface SecretFile {
  readonly path: string;
  readonly what: string;
}

function secretFiles(user: Entry): SecretFile[] {
  const named: readonly [Material | undefined, string][] = [
    [fileAt(user, 'tokenFile'), 'a token'],
    [fileAt(user, 'client-key'), 'a client key'],
  ];
  const files = named.flatMap(([material, what]) =>
    material?.from === 'file' ? [{ path: material.path, what }] : [],
  );
  if (textAt(user.value, 'token') !== '') files.push({ path: user.file, what: 'a token' });
  else if (textAt(user.value, 'client-key-data') !== '') {
    files.push({ path: user.file, what: 'a client key' });
  }
  // The kubelet makes it readable for all users of the pod, and mounts it only into the pod.
  return files.filter(({ path }) => !path.startsWith(`${SERVICE_ACCOUNT_FOLDER}/`));
}

function exposed(path: string, what: string): AccessWarning {
  return {
    code: 'CREDENTIALS_EXPOSED',
    message: `every user of this machine can read ${path}, which holds ${what}`,
    next: `chmod 600 ${path}`,
  };
}

/**
 * By its own mode and those of all folders above. Unreadable files are reported when they are used.
 */
async function isReadableByEverybody(path: string): Promise<boolean> {
  try {
    let above = await realpath(path);
    if (((await stat(above)).mode & READ_BY_OTHERS) === 0) return false;
    while (above !== dirname(above)) {
      above = dirname(above);
      if (((await stat(above)).mode & ENTER_BY_OTHERS) === 0) return false;
    }
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

const READ_BY_OTHERS = 0o004;
const ENTER_BY_OTHERS = 0o001;
