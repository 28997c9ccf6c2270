import { once } from 'node:events';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import http2 from 'node:http2';
import { join } from 'node:path';
import tls from 'node:tls';
import { ApiClient } from '../../../lab/api/client.ts';
import { API_PORT } from '../../../lab/control-plane/credentials.ts';
import { LabError, type LabErrorCode } from '../../../lab/host/errors.ts';
import type { Daemon } from '../../../lab/host/processes.ts';
import { dialTcp } from '../../../lab/host/sockets.ts';
import { until } from '../../../lab/host/until.ts';
import type { Lab } from '../../../lab/lab.ts';
import { FABRIC } from '../../../lab/network/plan.ts';
import { Changes } from './changes.ts';
import { Middleman } from './middleman.ts';
import { Watcher } from './watcher.ts';

const READY_DEADLINE_MS = 60_000;
const TO_SERVER = { address: FABRIC.ipv4, port: API_PORT };

/** A lab, and what a fault needs of it. */
export class Scene implements AsyncDisposable {
  readonly lab: Lab;
  readonly changes: Changes;
  /** Files of the watcher's own, so that a fault can change what they say. */
  readonly tokenFile: string;
  readonly authorityFile: string;
  readonly #kubeconfig: string;
  #api: ApiClient | undefined;
  readonly #middlemen: Middleman[] = [];

  constructor(lab: Lab) {
    this.lab = lab;
    this.changes = new Changes(lab.namespacePath('fabric'));
    const folder = join(lab.folder, 'faults');
    this.tokenFile = join(folder, 'token');
    this.authorityFile = join(folder, 'authority.crt');
    this.#kubeconfig = join(folder, 'kubeconfig');
  }

  async prepare(): Promise<void> {
    await mkdir(join(this.lab.folder, 'faults'));
    await writeFile(this.tokenFile, tokenIn(await this.#proxyUser()));
    await this.trustServer();
    const cluster = {
      server: `https://${TO_SERVER.address}:${TO_SERVER.port}`,
      'certificate-authority': this.authorityFile,
    };
    const config = {
      clusters: [{ name: 'lab', cluster }],
      users: [{ name: 'proxy', user: { tokenFile: this.tokenFile } }],
      contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'proxy' } }],
      'current-context': 'lab',
    };
    await writeFile(this.#kubeconfig, JSON.stringify(config));
    await this.reconnect();
  }

  /** The administrator, on a connection without faults. */
  get api(): ApiClient {
    if (this.#api === undefined) throw new Error('the scene is used before prepare()');
    return this.#api;
  }

  get apiServer(): Daemon {
    return this.#daemon('kube-apiserver');
  }

  get etcd(): Daemon {
    return this.#daemon('etcd');
  }

  /** Takes the API server's certificate of the moment for the administrator. */
  async reconnect(): Promise<void> {
    const { credentials } = this.lab;
    this.#api?.[Symbol.dispose]();
    this.#api = new ApiClient({
      namespacePath: this.lab.namespacePath('fabric'),
      ...TO_SERVER,
      token: credentials.adminToken,
      certificateAuthority: await readFile(credentials.certificateAuthorityFile, 'utf8'),
    });
  }

  /** Takes it for the watcher. */
  async trustServer(): Promise<void> {
    await copyFile(this.lab.credentials.certificateAuthorityFile, this.authorityFile);
  }

  /** Replaces the watcher's token in the list that the API server reads when it starts. */
  async replaceToken(token: string): Promise<void> {
    const row = await this.#proxyUser();
    const file = this.lab.credentials.tokenFile;
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(tokenIn(row), token));
  }

  async apiServerReady(): Promise<void> {
    const isReady = async (): Promise<boolean> => {
      const answer = await this.api.raw({ method: 'GET', path: '/readyz' }).catch(unlessNoAnswer);
      return answer?.status === 200;
    };
    await until(isReady, { what: 'the API server to be ready', deadlineMs: READY_DEADLINE_MS });
  }

  /** A new client that watches the cluster from node1, directly or through a middleman. */
  watcher(through?: Middleman): Watcher {
    const namespace = this.lab.namespacePath('node1');
    return new Watcher({
      kubeconfig: this.#kubeconfig,
      ...(through === undefined
        ? { dial: (address, port) => dialTcp({ namespace }, { address, port }) }
        : { server: through.url }),
    });
  }

  async middleman(): Promise<Middleman> {
    const middleman = new Middleman(() => this.#session());
    await middleman.start();
    this.#middlemen.push(middleman);
    return middleman;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const middleman of this.#middlemen) await middleman[Symbol.asyncDispose]();
    this.#api?.[Symbol.dispose]();
  }

  async #session(): Promise<http2.ClientHttp2Session> {
    const ca = await readFile(this.lab.credentials.certificateAuthorityFile, 'utf8');
    const socket = dialTcp({ namespace: this.lab.namespacePath('node1') }, TO_SERVER);
    const servername = 'kubernetes.default.svc';
    const encrypted = tls.connect({ socket, ca, servername, ALPNProtocols: ['h2'] });
    await once(encrypted, 'secureConnect');
    const session = http2.connect('https://lab', { createConnection: () => encrypted });
    session.on('error', () => undefined);
    return session;
  }

  async #proxyUser(): Promise<string> {
    const rows = (await readFile(this.lab.credentials.tokenFile, 'utf8')).split('\n');
    return rows.find((row) => row.includes('system:kube-proxy')) ?? '';
  }

  #daemon(name: string): Daemon {
    const found = this.lab.daemons.find((daemon) => daemon.name === name);
    if (found === undefined) throw new Error(`the lab has no ${name}`);
    return found;
  }
}

function tokenIn(row: string): string {
  return row.split(',')[0] ?? '';
}

/** A server that is being restarted is silent, or says that it is not ready. */
const NO_ANSWER: ReadonlySet<LabErrorCode> = new Set(['LAB_API', 'LAB_API_SILENT']);

export function unlessNoAnswer(error: unknown): undefined {
  if (error instanceof LabError && NO_ANSWER.has(error.code)) return undefined;
  throw error;
}
