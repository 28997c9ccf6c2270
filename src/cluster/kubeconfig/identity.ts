import { systemClock } from '../../time/clock.ts';
import { ClusterError } from '../cluster-error.ts';
import { isRecord, textAt } from '../json.ts';
import { Secret } from '../secret.ts';
import type { ClusterInfo, RunPlugin } from './exec-credential.ts';
import { ExecPlugin } from './exec-plugin.ts';
import type { Entry } from './kubeconfig-file.ts';
import { fileAt, type Material, materialAt, readMaterial } from './material.ts';

export interface ClientCertificate {
  readonly certificate: string;
  readonly key: Secret;
}

/** Credentials of a user; read before each connection and each request. */
export interface Identity {
  token(): Promise<Secret | undefined>;
  clientCertificate(): Promise<ClientCertificate | undefined>;
  rejected(token: Secret | undefined): void;
}

const NOTHING_HELD = (): void => undefined;

export const ANONYMOUS: Identity = {
  token: async () => undefined,
  clientCertificate: async () => undefined,
  rejected: NOTHING_HELD,
};

/** Read for each request, a few per minute, so that a rotated token is used immediately. */
export function tokenFromFile(file: Material): () => Promise<Secret> {
  return async () => {
    const token = (await readMaterial(file, 'the token')).trim();
    if (token !== '') return new Secret(token);
    throw new ClusterError('CREDENTIALS_UNREADABLE', 'the token file is empty', {
      next: 'check the process that writes the token',
    });
  };
}

export interface IdentityOptions {
  readonly cluster: ClusterInfo;
  readonly runPlugin: RunPlugin | undefined;
}

export function identityOf(user: Entry, options: IdentityOptions): Identity {
  rejectUnsupported(user);
  const { value } = user;
  const tokenFile = fileAt(user, 'tokenFile');
  const token = textAt(value, 'token');
  const clientCertificate = certificateFrom(user);
  if (tokenFile !== undefined) {
    return { token: tokenFromFile(tokenFile), clientCertificate, rejected: NOTHING_HELD };
  }
  if (token !== '') {
    const secret = new Secret(token);
    return { token: async () => secret, clientCertificate, rejected: NOTHING_HELD };
  }
  if (isRecord(value['exec'])) return pluginIdentity(user, options);
  return { ...ANONYMOUS, clientCertificate };
}

function pluginIdentity(user: Entry, { cluster, runPlugin }: IdentityOptions): Identity {
  if (runPlugin === undefined) {
    throw unsupported(
      'this command does not run credential plugins (exec)',
      'use a token, a tokenFile or a client certificate',
    );
  }
  const plugin = new ExecPlugin({ user, cluster, runPlugin, clock: systemClock });
  return {
    token: async () => (await plugin.credential()).token,
    clientCertificate: async () => (await plugin.credential()).clientCertificate,
    rejected: (token) => plugin.forget(token),
  };
}

function certificateFrom(user: Entry): Identity['clientCertificate'] {
  const certificate = materialAt(user, 'client-certificate');
  const key = materialAt(user, 'client-key');
  if (certificate === undefined && key === undefined) return async () => undefined;
  if (certificate === undefined || key === undefined) {
    throw new ClusterError(
      'KUBECONFIG_INVALID',
      'only one of client-certificate and client-key is set',
      { next: 'set both, or remove both' },
    );
  }
  return async () => ({
    certificate: await readMaterial(certificate, 'the client certificate'),
    key: new Secret(await readMaterial(key, 'the client key')),
  });
}

/** Ignoring one of these would authenticate as another user than configured. */
function rejectUnsupported({ value }: Entry): void {
  if (isRecord(value['auth-provider']))
    throw unsupported('auth-provider is not supported: Kubernetes removed it in 1.26');
  if (textAt(value, 'as') !== '') throw unsupported('impersonation (as) is not supported');
  if (textAt(value, 'username') !== '') {
    throw unsupported('username and password are not supported: Kubernetes removed them in 1.19');
  }
}

function unsupported(
  message: string,
  next = 'use a token, a tokenFile, a client certificate or an exec plugin',
): ClusterError {
  return new ClusterError('KUBECONFIG_UNSUPPORTED', message, { next });
}
