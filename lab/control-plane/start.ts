import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiClient } from '../api/client.ts';
import { paths } from '../api/objects.ts';
import { namespacePath } from '../host/namespaces.ts';
import { assertRunning, type Daemon, startDaemon } from '../host/processes.ts';
import { until } from '../host/until.ts';
import { FABRIC, SERVICE_CIDR } from '../network/plan.ts';
import { type ApiVersion, emulationArguments, NEWEST_API_VERSION } from '../parts/api-version.ts';
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
  /** The newest one with the lab's own flags when not given. */
  readonly apiServer?: ApiServerChoice;
  readonly signal?: AbortSignal | undefined;
}

/** What the control plane is, or behaves as. */
export interface ApiServerChoice {
  readonly version: ApiVersion;
  /** Arguments of the API server, in addition to the lab's own. */
  readonly flags: readonly string[];
}

export interface ControlPlane {
  readonly api: ApiClient;
  readonly daemons: readonly Daemon[];
  /** Ends the API server and starts another program in its place; ready when it resolves. */
  replaceApiServer(program: string, choice: ApiServerChoice): Promise<void>;
}

/**
 * The controllers that make slices, hints and the end of namespaces work. Not node-lifecycle and
 * not pod garbage collection: without heartbeats of kubelets they would evict every pod.
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
  const { apiServer: choice = { version: NEWEST_API_VERSION, flags: [] } } = options;
  const start = (name: keyof Parts, args: readonly string[], program?: string): Daemon =>
    startDaemon({
      name,
      namespacePath: path,
      argv: [program ?? options.parts[name], ...args],
      logFile: join(options.logFolder, `${name}.log`),
    });
  const etcd = startEtcd({
    namespacePath: path,
    etcd: options.parts.etcd,
    dataFolder: options.etcdFolder,
    logFolder: options.logFolder,
  });
  const apiServer = start('kube-apiserver', apiServerArguments(options, choice));
  const daemons = [etcd, apiServer];
  const ready = { options, daemons };
  const api = await connect({ ...ready, path });
  daemons.push(start('kube-controller-manager', controllerArguments(options, choice)));
  return {
    api,
    daemons,
    replaceApiServer: async (program, next) => {
      const place = daemons.findIndex(({ name }) => name === 'kube-apiserver');
      await daemons[place]?.stop();
      daemons[place] = start('kube-apiserver', apiServerArguments(options, next), program);
      await untilReady(api, ready);
    },
  };
}

function apiServerArguments(options: ControlPlaneOptions, choice: ApiServerChoice): string[] {
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
    ...emulationArguments(choice.version),
    ...choice.flags,
  ];
}

function controllerArguments(options: ControlPlaneOptions, choice: ApiServerChoice): string[] {
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
    ...emulationArguments(choice.version),
  ];
}

interface Starting {
  readonly options: ControlPlaneOptions;
  readonly daemons: readonly Daemon[];
}

async function connect(start: Starting & { readonly path: string }): Promise<ApiClient> {
  const { credentials, signal } = start.options;
  await until(
    async () => {
      await assertAllRun(start);
      return existsSync(credentials.certificateAuthorityFile);
    },
    { deadlineMs: READY_DEADLINE_MS, signal, what: "the API server's certificate" },
  );
  const api = new ApiClient({
    namespacePath: start.path,
    address: FABRIC.ipv4,
    port: API_PORT,
    token: credentials.adminToken,
    certificateAuthority: await readFile(credentials.certificateAuthorityFile, 'utf8'),
  });
  await untilReady(api, start);
  return api;
}

/** Its own Service comes a moment after it says that it is ready, and a first list may lack it. */
const FIRST_ANSWERS = ['/readyz', paths.service('default', 'kubernetes')];

async function untilReady(api: ApiClient, start: Starting): Promise<void> {
  await until(
    async () => {
      await assertAllRun(start);
      for (const path of FIRST_ANSWERS) {
        const answer = await api.raw({ method: 'GET', path }).catch(() => undefined);
        if (answer?.status !== 200) return false;
      }
      return true;
    },
    {
      deadlineMs: READY_DEADLINE_MS,
      signal: start.options.signal,
      what: 'the API server to be ready',
    },
  );
}

async function assertAllRun({ daemons }: Starting): Promise<void> {
  for (const daemon of daemons) await assertRunning(daemon);
}
