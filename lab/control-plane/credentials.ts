import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FABRIC } from '../network/plan.ts';

export const API_PORT = 6443;

/** Users of the lab's API server and their credentials. */
export const USERS = {
  admin: { name: 'admin', group: 'system:masters' },
  // The real role of kube-proxy: a proxy that needs more than it fails here, not at a user's.
  proxy: { name: 'system:kube-proxy', group: '' },
} as const;

type User = keyof typeof USERS;

/** Another user: a kubeconfig named `key` is written for each. */
export interface ExtraUser {
  readonly key: string;
  readonly name: string;
  readonly group: string;
}

export interface Credentials {
  readonly folder: string;
  readonly tokenFile: string;
  readonly signingKeyFile: string;
  readonly adminToken: string;
  readonly adminKubeconfig: string;
  readonly proxyKubeconfig: string;
  /** Path of the kubeconfig of an extra user. */
  kubeconfigOf(key: string): string;
  /** Written by the API server at its first start: the certificate it signs itself. */
  readonly certificateAuthorityFile: string;
}

const PRIVATE_MODE = 0o600;

export async function writeCredentials(
  folder: string,
  extraUsers: readonly ExtraUser[] = [],
): Promise<Credentials> {
  const tokens: Record<User, string> = { admin: newToken(), proxy: newToken() };
  const credentials: Credentials = {
    folder,
    tokenFile: join(folder, 'tokens.csv'),
    signingKeyFile: join(folder, 'service-account.key'),
    adminToken: tokens.admin,
    adminKubeconfig: join(folder, 'admin.kubeconfig'),
    proxyKubeconfig: join(folder, 'proxy.kubeconfig'),
    kubeconfigOf: (key) => join(folder, `${key}.kubeconfig`),
    certificateAuthorityFile: join(folder, 'apiserver.crt'),
  };
  const rows = (Object.keys(USERS) as User[]).map(
    (user) => `${tokens[user]},${USERS[user].name},${user},"${USERS[user].group}"`,
  );
  const extras = extraUsers.map((user) => ({ ...user, token: newToken() }));
  rows.push(...extras.map((user) => `${user.token},${user.name},${user.key},"${user.group}"`));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const authority = credentials.certificateAuthorityFile;
  const kubeconfig = (user: User): string => kubeconfigText(tokens[user], authority);
  await Promise.all([
    writeFile(credentials.tokenFile, `${rows.join('\n')}\n`, { mode: PRIVATE_MODE }),
    writeFile(credentials.signingKeyFile, key, { mode: PRIVATE_MODE }),
    writeFile(credentials.adminKubeconfig, kubeconfig('admin'), { mode: PRIVATE_MODE }),
    writeFile(credentials.proxyKubeconfig, kubeconfig('proxy'), { mode: PRIVATE_MODE }),
    ...extras.map(({ key: name, token }) =>
      writeFile(credentials.kubeconfigOf(name), kubeconfigText(token, authority), {
        mode: PRIVATE_MODE,
      }),
    ),
  ]);
  return credentials;
}

function newToken(): string {
  return randomBytes(16).toString('hex');
}

function kubeconfigText(token: string, certificateAuthorityFile: string): string {
  const server = `https://${FABRIC.ipv4}:${API_PORT}`;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'lab', cluster: { server, 'certificate-authority': certificateAuthorityFile } },
    ],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'user' } }],
    'current-context': 'lab',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
