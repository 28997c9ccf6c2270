import type { ClusterAccess, TlsMaterial } from '../access.ts';
import { ClusterError } from '../cluster-error.ts';
import { arrayAt, isRecord, textAt } from '../json.ts';
import { Secret } from '../secret.ts';
import type { ClusterInfo, RunPlugin } from './exec-credential.ts';
import { ANONYMOUS, type Identity, identityOf } from './identity.ts';
import { type Entry, type Kubeconfig, readKubeconfig } from './kubeconfig-file.ts';
import { type Material, materialAt, readMaterial } from './material.ts';
import { kubeconfigWarnings } from './warnings.ts';

export interface KubeconfigOptions {
  /** The first definition wins, as in $KUBECONFIG. */
  readonly files: readonly string[];
  /** Overrides the current context. */
  readonly context?: string;
  /** Overrides the server of the cluster, as kube-proxy's `--master` does. */
  readonly server?: string;
  readonly runPlugin?: RunPlugin;
}

/** Reads a kubeconfig. Files that it names are read later, on each use. */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<ClusterAccess> {
  const config = await readKubeconfig(options.files);
  const context = contextOf(config, options.context);
  const cluster = named(config, { map: 'clusters', name: textAt(context.value, 'cluster') });
  const userName = textAt(context.value, 'user');
  const server = serverUrl(options.server ?? textAt(cluster.value, 'server'));
  const authority = materialAt(cluster, 'certificate-authority');
  const proxyUrl = proxyOf(cluster);
  const user = userName === '' ? undefined : named(config, { map: 'users', name: userName });
  const identity =
    user === undefined
      ? ANONYMOUS
      : identityOf(user, {
          cluster: clusterInfo(cluster, server),
          runPlugin: options.runPlugin,
        });
  return {
    server,
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    tls: () => tlsOf({ cluster, authority, identity }),
    token: () => identity.token(),
    rejected: (token) => identity.rejected(token),
    warnings: (at) => kubeconfigWarnings({ cluster, user, server: at }),
  };
}

function contextOf(config: Kubeconfig, chosen: string | undefined): Entry {
  const name = chosen ?? config.currentContext;
  if (name !== '') return named(config, { map: 'contexts', name });
  throw new ClusterError('KUBECONFIG_INVALID', 'the kubeconfig has no current-context', {
    next: `pass --context with one of: ${[...config.contexts.keys()].join(', ')}`,
  });
}

function named(
  config: Kubeconfig,
  { map, name }: { readonly map: 'contexts' | 'clusters' | 'users'; readonly name: string },
): Entry {
  const found = config[map].get(name);
  if (found !== undefined) return found;
  const known = [...config[map].keys()].join(', ') || 'none';
  const where = config.files.join(', ');
  throw new ClusterError('KUBECONFIG_INVALID', `${where}: '${name}' not found in ${map}`, {
    next: `use one that exists: ${known}`,
  });
}

function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  throw new ClusterError('KUBECONFIG_INVALID', `'${text}' is not the address of an API server`, {
    next: 'use the form https://host:port',
  });
}

function proxyOf(cluster: Entry): Secret | undefined {
  const text = textAt(cluster.value, 'proxy-url');
  if (text === '') return undefined;
  const protocol = URL.canParse(text) ? new URL(text).protocol : '';
  if (['http:', 'https:', 'unix:'].includes(protocol)) return new Secret(text);
  throw new ClusterError('KUBECONFIG_UNSUPPORTED', 'proxy-url is not an http:// or https:// URL', {
    next: 'use an HTTP proxy; SOCKS is not supported',
  });
}

interface TlsParts {
  readonly cluster: Entry;
  readonly authority: Material | undefined;
  readonly identity: Identity;
}

async function tlsOf({ cluster, authority, identity }: TlsParts): Promise<TlsMaterial> {
  const serverName = textAt(cluster.value, 'tls-server-name');
  const certificate = await identity.clientCertificate();
  return {
    isUnverified: cluster.value['insecure-skip-tls-verify'] === true,
    ...(serverName === '' ? {} : { serverName }),
    ...(authority === undefined
      ? {}
      : { certificateAuthority: await readMaterial(authority, 'the certificate authority') }),
    ...(certificate === undefined
      ? {}
      : { clientCertificate: certificate.certificate, clientKey: certificate.key }),
  };
}

const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

function clusterInfo({ value }: Entry, server: URL): ClusterInfo {
  const serverName = textAt(value, 'tls-server-name');
  const authority = textAt(value, 'certificate-authority-data');
  const proxyUrl = textAt(value, 'proxy-url');
  const extension = arrayAt(value, 'extensions')
    .filter(isRecord)
    .find((entry) => entry['name'] === EXEC_EXTENSION);
  return {
    server: server.href.replace(/\/$/, ''),
    ...(serverName === '' ? {} : { 'tls-server-name': serverName }),
    ...(value['insecure-skip-tls-verify'] === true ? { 'insecure-skip-tls-verify': true } : {}),
    ...(authority === '' ? {} : { 'certificate-authority-data': authority }),
    ...(proxyUrl === '' ? {} : { 'proxy-url': proxyUrl }),
    ...(extension === undefined ? {} : { config: extension['extension'] }),
  };
}
