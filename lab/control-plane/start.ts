import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiClient } from '../api/client.ts';
import { namespacePath } from '../host/namespaces.ts';
import { assertRunning, type Daemon, startDaemon } from '../host/processes.ts';
import { until } from '../host/until.ts';
import { FABRIC, SERVICE_CIDR } from '../network/plan.ts';
import type { Parts } from '../parts/build.ts';
import { API_PORT, type Credentials } from './credentials.ts';
import { startEtcd } from './etcd.ts';

export interface ControlPlaneOptions {
  readonly lab: string;
  readonly parts: Parts;
  readonly credentials: Credentials;
  readonly logFolder: string;
  readonly etcdFolder: string;
  /** Who keeps the promises of a node: the lab itself, or kubelets. Played when not given. */
  readonly kubelets?: 'played' | 'real';
  readonly signal?: AbortSignal | undefined;
}

export interface ControlPlane {
  readonly api: ApiClient;
  readonly daemons: readonly Daemon[];
}

/**
 * The controllers that make slices, hints and the end of namespaces work. Not node-lifecycle and
 * not pod garbage collection: where nobody sends heartbeats they would evict every pod.
 */
const CONTROLLERS_WITHOUT_KUBELETS = [
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'service-cidr-controller',
];

const READY_DEADLINE_MS = 60_000;
const SERVICE_CIDRS = `${SERVICE_CIDR.ipv4},${SERVICE_CIDR.ipv6}`;

/** Starts etcd, kube-apiserver and kube-controller-manager in the fabric; ready when it resolves. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const path = namespacePath({ lab: options.lab, role: 'fabric' });
  const start = (name: keyof Parts, args: readonly string[]): Daemon =>
    startDaemon({
      name,
      namespacePath: path,
      argv: [options.parts[name], ...args],
      logFile: join(options.logFolder, `${name}.log`),
    });
  const etcd = startEtcd({
    namespacePath: path,
    etcd: options.parts.etcd,
    dataFolder: options.etcdFolder,
    logFolder: options.logFolder,
  });
  const apiServer = start('kube-apiserver', apiServerArguments(options));
  const api = await connect({ options, path, daemons: [etcd, apiServer] });
  const controllers = start('kube-controller-manager', controllerArguments(options));
  return { api, daemons: [etcd, apiServer, controllers] };
}

function apiServerArguments(options: ControlPlaneOptions): string[] {
  const { credentials } = options;
  return [
    '--etcd-servers=http://127.0.0.1:2379',
    `--cert-dir=${credentials.folder}`,
    `--service-account-key-file=${credentials.signingKeyFile}`,
    `--service-account-signing-key-file=${credentials.signingKeyFile}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-cluster-ip-range=${SERVICE_CIDRS}`,
    `--token-auth-file=${credentials.tokenFile}`,
    '--bind-address=0.0.0.0',
    `--secure-port=${API_PORT}`,
    `--advertise-address=${FABRIC.ipv4}`,
    ...(options.kubelets === 'real'
      ? [
          '--authorization-mode=Node,RBAC',
          '--enable-admission-plugins=NodeRestriction',
          '--allow-privileged=true',
          '--kubelet-preferred-address-types=InternalIP',
          '--enable-aggregator-routing=true',
        ]
      : ['--authorization-mode=RBAC', '--disable-admission-plugins=ServiceAccount']),
    '--max-requests-inflight=3000',
    '--max-mutating-requests-inflight=1000',
    '--profiling=false',
  ];
}

function controllerArguments(options: ControlPlaneOptions): string[] {
  const { credentials } = options;
  const kubeconfig = credentials.adminKubeconfig;
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    ...(options.kubelets === 'real'
      ? [
          `--root-ca-file=${credentials.certificateAuthorityFile}`,
          `--service-account-private-key-file=${credentials.signingKeyFile}`,
        ]
      : [`--controllers=${CONTROLLERS_WITHOUT_KUBELETS.join(',')}`]),
    `--service-cluster-ip-range=${SERVICE_CIDRS}`,
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
    '--concurrent-service-endpoint-syncs=10',
    '--bind-address=127.0.0.1',
    '--profiling=false',
  ];
}

async function connect(start: {
  options: ControlPlaneOptions;
  path: string;
  daemons: readonly Daemon[];
}): Promise<ApiClient> {
  const { credentials, signal } = start.options;
  const wait = { deadlineMs: READY_DEADLINE_MS, signal };
  const stillRunning = async (): Promise<void> => {
    for (const daemon of start.daemons) await assertRunning(daemon);
  };
  await until(
    async () => {
      await stillRunning();
      return existsSync(credentials.certificateAuthorityFile);
    },
    { ...wait, what: "the API server's certificate" },
  );
  const api = new ApiClient({
    namespacePath: start.path,
    address: FABRIC.ipv4,
    port: API_PORT,
    token: credentials.adminToken,
    certificateAuthority: await readFile(credentials.certificateAuthorityFile, 'utf8'),
  });
  await until(
    async () => {
      await stillRunning();
      const answer = await api.raw({ method: 'GET', path: '/readyz' }).catch(() => undefined);
      return answer?.status === 200;
    },
    { ...wait, what: 'the API server to be ready' },
  );
  return api;
}
