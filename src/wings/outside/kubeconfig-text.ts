import { stringify } from 'yaml';
import { TOKEN_FILE } from './paths.ts';

export interface KubeconfigOptions {
  readonly server: string;
  /** PEM. Undefined: an authority that the machine trusts. */
  readonly certificateAuthority: string | undefined;
  /** The name in the server's certificate, if it is not the one in the URL. */
  readonly serverName: string | undefined;
  readonly proxyUrl: string | undefined;
  /** Name of the ServiceAccount. */
  readonly account: string;
  /** The command that starts Fairlead. */
  readonly program: readonly string[];
  /** Undefined: the token is not renewed. */
  readonly renewedLifetimeSeconds: number | undefined;
}

const CLUSTER = 'cluster';

/**
 * The kubeconfig of a machine outside. It has no secret: the token is in its own file, which the
 * plugin renews, or which is read as it is.
 */
export function kubeconfigText(options: KubeconfigOptions): string {
  const { account, server, certificateAuthority, serverName, proxyUrl } = options;
  const cluster = {
    server,
    ...(certificateAuthority === undefined
      ? {}
      : { 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') }),
    ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
    ...(proxyUrl === undefined ? {} : { 'proxy-url': proxyUrl }),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: CLUSTER, cluster }],
    users: [{ name: account, user: userOf(options) }],
    contexts: [{ name: CLUSTER, context: { cluster: CLUSTER, user: account } }],
    'current-context': CLUSTER,
  };
  const head = '# Written by `fairlead outside init`: the access of this machine to its cluster.';
  return `${head}\n${stringify(config, { lineWidth: 0 })}`;
}

function userOf({ program, renewedLifetimeSeconds }: KubeconfigOptions): object {
  if (renewedLifetimeSeconds === undefined) return { tokenFile: TOKEN_FILE };
  const [command, ...args] = program;
  return {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command,
      args: [
        ...args,
        'outside',
        'token',
        `--token-file=${TOKEN_FILE}`,
        `--lifetime=${renewedLifetimeSeconds}s`,
      ],
      interactiveMode: 'Never',
      provideClusterInfo: true,
    },
  };
}
