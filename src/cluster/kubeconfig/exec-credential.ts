import { ClusterError } from '../cluster-error.ts';
import { isRecord, parseJson, recordAt, textAt, timeMsAt } from '../json.ts';
import { Secret } from '../secret.ts';

/** Starts a credential plugin; passed in by the layer that may start processes. */
export type RunPlugin = (call: PluginCall) => Promise<PluginResult>;

export interface PluginCall {
  readonly command: string;
  readonly args: readonly string[];
  /** In addition to our own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface PluginResult {
  /** Null: killed by a signal. */
  readonly exitCode: number | null;
  readonly stdout: string;
}

/** The cluster as ExecCredential describes it to a plugin. */
export interface ClusterInfo {
  readonly server: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'certificate-authority-data'?: string;
  readonly 'proxy-url'?: string;
  readonly config?: unknown;
}

export interface ExecCredential {
  readonly token: Secret | undefined;
  readonly clientCertificate: { readonly certificate: string; readonly key: Secret } | undefined;
  /** Infinity: valid until rejected. */
  readonly expiresAtMs: number;
}

const API_GROUP = 'client.authentication.k8s.io';
const API_VERSIONS = [`${API_GROUP}/v1`, `${API_GROUP}/v1beta1`];

export function assertKnownVersion(apiVersion: string): void {
  if (API_VERSIONS.includes(apiVersion)) return;
  throw new ClusterError(
    'KUBECONFIG_UNSUPPORTED',
    `exec: apiVersion '${apiVersion}' is not supported`,
    {
      next: `use ${API_VERSIONS.join(' or ')}`,
    },
  );
}

/** The value of KUBERNETES_EXEC_INFO. */
export function execInfo(apiVersion: string, cluster: ClusterInfo | undefined): string {
  const spec = { ...(cluster === undefined ? {} : { cluster }), interactive: false };
  return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
}

/** Never quotes the output: it contains secrets. */
export function readExecCredential(stdout: string, apiVersion: string): ExecCredential | string {
  const raw = parseJson(stdout)?.value;
  if (!isRecord(raw)) return 'its output is not a JSON object';
  if (raw['kind'] !== 'ExecCredential') return 'its output is not an ExecCredential';
  if (raw['apiVersion'] !== apiVersion) return `the apiVersion of its output is not ${apiVersion}`;
  const status = recordAt(raw, 'status');
  const token = textAt(status, 'token').trim();
  const certificate = textAt(status, 'clientCertificateData');
  const key = textAt(status, 'clientKeyData');
  if ((certificate === '') !== (key === ''))
    return 'its output has only one of certificate and key';
  if (token === '' && certificate === '') return 'its output has neither token nor certificate';
  return {
    token: token === '' ? undefined : new Secret(token),
    clientCertificate: certificate === '' ? undefined : { certificate, key: new Secret(key) },
    expiresAtMs: timeMsAt(status, 'expirationTimestamp') ?? Number.POSITIVE_INFINITY,
  };
}
