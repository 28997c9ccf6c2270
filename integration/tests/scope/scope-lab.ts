import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubeObject, paths } from '../../../lab/api/objects.ts';
import { dialTcp } from '../../../lab/host/sockets.ts';
import { until } from '../../../lab/host/until.ts';
import { type Lab, type LabOptions, startLab } from '../../../lab/lab.ts';
import { ApiSource, type ApiSourceOptions } from '../../../src/cluster/api-source.ts';
import { loadKubeconfig } from '../../../src/cluster/kubeconfig/load-kubeconfig.ts';
import type { SourceEvent } from '../../../src/cluster/source.ts';

export const WAIT_MS = 60_000;
const KINDS = ['service', 'slice', 'node', 'serviceCidr'];
const ACCOUNT = 'outside';
const HOME = 'default';
const USER = `system:serviceaccount:${HOME}:${ACCOUNT}`;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const EVERY_REQUEST = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', users: [USER] }],
};

/** A request as the API server's audit log has it. */
export interface Audited {
  readonly verb: string;
  readonly requestURI: string;
  readonly responseStatus?: { readonly code?: number };
}

/** A real API server with an audit log, and a ServiceAccount that starts without any rights. */
export class ScopeLab implements AsyncDisposable {
  readonly lab: Lab;
  readonly #folder: string;

  private constructor(lab: Lab, folder: string) {
    this.lab = lab;
    this.#folder = folder;
  }

  static async start(options: Partial<LabOptions> = {}): Promise<ScopeLab> {
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-scope-'));
    await writeFile(join(folder, 'policy.json'), JSON.stringify(EVERY_REQUEST));
    const apiServerFlags = [
      `--audit-policy-file=${join(folder, 'policy.json')}`,
      `--audit-log-path=${join(folder, 'audit.log')}`,
    ];
    const lab = await startLab({ nodeCount: 1, apiServerFlags, ...options });
    await lab.api.create(`/api/v1/namespaces/${HOME}/serviceaccounts`, {
      metadata: { name: ACCOUNT },
    });
    const scopeLab = new ScopeLab(lab, folder);
    await scopeLab.#writeKubeconfig();
    return scopeLab;
  }

  get kubeconfig(): string {
    return join(this.#folder, 'kubeconfig');
  }

  /** A Role as `fairlead outside init` gives: Services, or some of them by name, and slices. */
  async grant(namespace: string, names?: readonly string[]): Promise<void> {
    const verbs = ['list', 'watch'];
    const only = names === undefined ? {} : { resourceNames: names };
    await this.lab.api.create(`${RBAC}/namespaces/${namespace}/roles`, {
      metadata: { name: ACCOUNT },
      rules: [
        { apiGroups: [''], resources: ['services'], verbs, ...only },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs },
      ],
    });
    await this.lab.api.create(`${RBAC}/namespaces/${namespace}/rolebindings`, {
      metadata: { name: ACCOUNT },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: ACCOUNT },
      subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace: HOME }],
    });
    await this.#untilAllowed(namespace, true);
  }

  /** Returns once requests are rejected. */
  async revoke(namespace: string): Promise<void> {
    for (const kind of ['rolebindings', 'roles']) {
      await this.lab.api.delete(`${RBAC}/namespaces/${namespace}/${kind}/${ACCOUNT}`);
    }
    await this.#untilAllowed(namespace, false);
  }

  /** The authorizer follows Roles with a delay of its own. */
  async #untilAllowed(namespace: string, isAllowed: boolean): Promise<void> {
    const resourceAttributes = {
      namespace,
      verb: 'watch',
      group: 'discovery.k8s.io',
      resource: 'endpointslices',
    };
    await until(
      async () => {
        const review = await this.lab.api.create<KubeObject & { status: { allowed: boolean } }>(
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          { spec: { user: USER, resourceAttributes } },
        );
        return review.status.allowed === isAllowed;
      },
      { what: `rights in ${namespace}: ${isAllowed}`, deadlineMs: WAIT_MS },
    );
  }

  /** A Service whose slices the EndpointSlice controller writes. */
  async service(key: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    await this.lab.api.create(paths.services(namespace), {
      metadata: { name, labels },
      spec: { selector: { app: name }, ports: [{ port: 80 }] },
    });
  }

  /** All requests of the account so far. */
  async requests(): Promise<readonly Audited[]> {
    const text = await readFile(join(this.#folder, 'audit.log'), 'utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Audited);
  }

  async listen(
    options: Omit<ApiSourceOptions, 'connection'>,
    kubeconfig = this.kubeconfig,
  ): Promise<ScopeListener> {
    const access = await loadKubeconfig({ files: [kubeconfig] });
    const namespace = this.lab.namespacePath('machine');
    const sockets: net.Socket[] = [];
    const dial = (address: string, port: number): net.Socket => {
      const socket = dialTcp({ namespace }, { address, port });
      sockets.push(socket);
      return socket;
    };
    return new ScopeListener(new ApiSource({ connection: { access, dial }, ...options }), sockets);
  }

  async #writeKubeconfig(): Promise<void> {
    const path = `/api/v1/namespaces/${HOME}/serviceaccounts/${ACCOUNT}/token`;
    const { status } = await this.lab.api.create<KubeObject & { status: { token: string } }>(path, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    });
    const text = await readFile(this.lab.credentials.adminKubeconfig, 'utf8');
    const config = { ...JSON.parse(text), users: [{ name: 'user', user: status }] };
    await writeFile(this.kubeconfig, JSON.stringify(config), { mode: 0o600 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lab[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true });
  }
}

/** Follows a source, and keeps the objects that it reports. */
export class ScopeListener implements AsyncDisposable {
  readonly source: ApiSource;
  readonly #sockets: readonly net.Socket[];
  readonly #keys = new Set<string>();
  readonly #synced = new Set<string>();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  putCount = 0;

  constructor(source: ApiSource, sockets: readonly net.Socket[]) {
    this.source = source;
    this.#sockets = sockets;
    this.#running = source.run((event) => this.#take(event), this.#stop.signal);
  }

  async synced(): Promise<void> {
    const isSynced = (): boolean => KINDS.every((kind) => this.#synced.has(kind));
    await until(isSynced, { what: 'every kind to be synced', deadlineMs: WAIT_MS });
  }

  /** Services by name, and slices by the name of the Service, which begins theirs. */
  keys(): readonly string[] {
    return [...new Set([...this.#keys].map(withoutSuffix))].sort();
  }

  async has(expected: readonly string[]): Promise<void> {
    const wanted = JSON.stringify([...expected].sort());
    await until(() => JSON.stringify(this.keys()) === wanted, {
      what: `${wanted}; there is ${JSON.stringify(this.keys())}`,
      deadlineMs: WAIT_MS,
    });
  }

  get receivedBytes(): number {
    return this.#sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  }

  #take(event: SourceEvent): void {
    if (event.type === 'synced') this.#synced.add(event.kind);
    else if (event.type === 'delete') this.#keys.delete(`${event.kind} ${event.key}`);
    else {
      this.putCount++;
      this.#keys.add(`${event.kind} ${event.key}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** `slice shop/web-x7z5k` becomes `slice shop/web`. */
function withoutSuffix(key: string): string {
  return key.startsWith('slice ') ? key.replace(/-[a-z0-9]{5}$/, '') : key;
}
