import { createSign } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { paths, type Service } from '../../../lab/api/objects.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { type Daemon, startDaemon } from '../../../lab/host/processes.ts';
import { silentProgress } from '../../../lab/host/progress.ts';
import { type RunResult, tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import { provideTool } from '../../../lab/parts/build.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';
import { TOKEN_FILE } from '../../../src/wings/outside/paths.ts';

const REPOSITORY = join(import.meta.dirname, '../../..');
const MAIN = join(REPOSITORY, 'src/main.ts');
/** On the machine: a place that no sandbox hides. */
export const PROGRAM = '/etc/fairlead-program';
/** Where the machine has folders of its own. */
const OWN_FOLDERS = ['etc', 'var/lib', 'run'];
/** Wide: the program starts from source, on a machine where other tests run. */
const DEADLINE_MS = 120_000;
export const NAME = 'db1';
export const INIT = ['init', '--apply', `--name=${NAME}`, `--program=${PROGRAM}`] as const;
/** The capabilities of the unit. */
const LIMITED = [
  ...['setpriv', '--bounding-set=-all,+net_admin', '--inh-caps=-all', '--no-new-privs'],
];
/** Certificates of the host are not those of the machine. */
const NO_HOST_CERTIFICATES = { NODE_EXTRA_CA_CERTS: '' };

export interface Asked {
  readonly service: Service;
  /** The pod that answers. */
  readonly pod: string;
}

/**
 * A cluster with Services in two namespaces and a DNS Service, and a machine beside it whose /etc,
 * /var/lib and /run are folders of the test, so that `fairlead outside` finds a machine of its own.
 */
export class InitScene implements AsyncDisposable {
  readonly lab: Lab;
  readonly folder: string;
  readonly #services = new Map<string, Asked>();
  #agent: Daemon | undefined;
  #logFile = '';
  #starts = 0;

  private constructor(lab: Lab, folder: string) {
    this.lab = lab;
    this.folder = folder;
  }

  static async start(): Promise<InitScene> {
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-init-'));
    const lab = await startLab({ nodeCount: 1 });
    const scene = new InitScene(lab, folder);
    try {
      for (const name of OWN_FOLDERS) await mkdir(join(folder, name), { recursive: true });
      await writeFile(join(folder, 'etc/hosts'), '127.0.0.1 localhost\n');
      const program = join(folder, PROGRAM);
      await writeFile(program, `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`);
      await chmod(program, 0o755);
      await lab.api.create(paths.namespaces, { metadata: { name: 'shop' } });
      for (const namespace of ['default', 'shop']) await scene.#declare(namespace);
      await lab.api.create<Service>(paths.services('kube-system'), {
        metadata: { name: 'kube-dns', labels: { 'k8s-app': 'kube-dns' } },
        spec: { selector: { app: 'none' }, ports: [{ port: 53, protocol: 'UDP' }] },
      });
      return scene;
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** `fairlead outside …` on the machine, with the kubeconfig of the administrator. */
  async outside(...args: readonly string[]): Promise<RunResult> {
    return await this.onMachine([PROGRAM, 'outside', ...args], {
      KUBECONFIG: this.lab.credentials.adminKubeconfig,
    });
  }

  /** Starts `fairlead outside …` and kills it as soon as the condition holds, or it has ended. */
  async killed(args: readonly string[], condition: () => Promise<boolean>): Promise<void> {
    const daemon = startDaemon({
      name: 'fairlead outside',
      namespacePath: this.#network,
      argv: this.#ownFolders([PROGRAM, 'outside', ...args]),
      logFile: join(this.folder, 'killed.log'),
      env: { ...NO_HOST_CERTIFICATES, KUBECONFIG: this.lab.credentials.adminKubeconfig },
    });
    await until(async () => daemon.ended() !== undefined || (await condition()), {
      what: 'the moment to kill it',
      deadlineMs: DEADLINE_MS,
    });
    await daemon.kill();
  }

  /** A command on the machine: its network and its own folders. */
  async onMachine(
    argv: readonly [string, ...string[]],
    env: Readonly<Record<string, string>> = {},
  ): Promise<RunResult> {
    return await tryRun(enterNamespace(this.#network, this.#ownFolders(argv)), {
      deadlineMs: DEADLINE_MS,
      env: { ...NO_HOST_CERTIFICATES, ...env },
    });
  }

  /** kubectl on the machine, with the kubeconfig that was installed and nothing else. */
  async kubectl(...args: readonly string[]): Promise<RunResult> {
    const kubectl = await provideTool('kubectl', { progress: silentProgress });
    const kubeconfig = '--kubeconfig=/etc/fairlead/kubeconfig';
    return await this.onMachine([
      kubectl,
      kubeconfig,
      `--cache-dir=${join(this.folder, 'kube')}`,
      ...args,
    ]);
  }

  /** `fairlead run` as the unit starts it, with the capabilities that the unit gives it. */
  async startAgent(): Promise<void> {
    this.#logFile = join(this.folder, `agent-${this.#starts++}.log`);
    const command = [PROGRAM, 'run', '--config', '/etc/fairlead/config.conf'];
    this.#agent = startDaemon({
      name: 'fairlead',
      namespacePath: this.#network,
      argv: this.#ownFolders([...LIMITED, ...command]),
      env: NO_HOST_CERTIFICATES,
      logFile: this.#logFile,
    });
    await until(async () => this.#agent?.ended() !== undefined || (await this.#isReady()), {
      what: 'Fairlead to be ready',
      deadlineMs: DEADLINE_MS,
    });
    if (!(await this.#isReady())) throw new Error(`Fairlead ended:\n${await this.agentLog()}`);
  }

  async #isReady(): Promise<boolean> {
    return (await this.agentLog()).includes('every Service is in the kernel');
  }

  /** Warnings and errors of the agent; its OOM score is set by systemd, and not here. */
  async complaints(): Promise<readonly string[]> {
    const lines = (await this.agentLog()).split('\n');
    return lines.filter((line) => /^[EW]\d/.test(line) && !line.includes('code=OOM_SCORE'));
  }

  async stopAgent(): Promise<void> {
    await this.#agent?.stop();
    this.#agent = undefined;
  }

  async agentLog(): Promise<string> {
    return await readFile(this.#logFile, 'utf8');
  }

  /** The pod that answers at the ClusterIP of the Service of a namespace; undefined: none does. */
  async answerOf(namespace: string): Promise<string | undefined> {
    const address = this.#services.get(namespace)?.service.spec.clusterIPs?.[0] ?? '';
    try {
      const to = { address, port: 80, path: '/hostname', deadlineMs: 2_000 };
      return (await httpGet({ namespace: this.#network }, to)).body.trim();
    } catch (error) {
      if (error instanceof Error) return undefined;
      throw error;
    }
  }

  podOf(namespace: string): string {
    return this.#services.get(namespace)?.pod ?? '';
  }

  /** A token as the API server would have issued it at another time: same claims, same key. */
  async tokenOf(times: { readonly issuedAt: number; readonly expiresAt: number }): Promise<string> {
    const [head = '', payload = ''] = (await this.readToken()).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const { issuedAt, expiresAt } = times;
    const moved = { ...claims, iat: issuedAt, nbf: issuedAt, exp: expiresAt };
    const signed = `${head}.${Buffer.from(JSON.stringify(moved)).toString('base64url')}`;
    const key = await readFile(this.lab.credentials.signingKeyFile, 'utf8');
    const signature = createSign('RSA-SHA256').update(signed).sign(key, 'base64url');
    return `${signed}.${signature}`;
  }

  async readToken(): Promise<string> {
    return (await readFile(join(this.folder, TOKEN_FILE), 'utf8')).trim();
  }

  async writeToken(token: string): Promise<void> {
    await writeFile(join(this.folder, TOKEN_FILE), `${token}\n`);
  }

  /** Everything that must be as before: files, links, rules, routes, nftables. */
  async state(): Promise<Readonly<Record<string, string>>> {
    const commands = {
      links: ['ip', '-o', 'link'],
      addresses: ['ip', '-o', 'address'],
      routes4: ['ip', '-4', 'route', 'show', 'table', 'all'],
      routes6: ['ip', '-6', 'route', 'show', 'table', 'all'],
      rules4: ['ip', '-4', 'rule'],
      rules6: ['ip', '-6', 'rule'],
      nftables: ['nft', 'list', 'ruleset'],
    } as const;
    const state: Record<string, string> = { files: (await this.files()).join('\n') };
    for (const [name, argv] of Object.entries(commands)) {
      state[name] = (await tryRun(enterNamespace(this.#network, [...argv]))).stdout;
    }
    return state;
  }

  async files(below: string = ''): Promise<readonly string[]> {
    const parts = below === '' ? OWN_FOLDERS : [below];
    const lists = parts.map((part) => readdir(join(this.folder, part), { recursive: true }));
    return (await Promise.all(lists)).flat().sort();
  }

  /** Names of objects with our label. */
  async objects(): Promise<readonly string[]> {
    const kinds = 'serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings';
    const label = 'app.kubernetes.io/component=outside';
    const kubectl = await provideTool('kubectl', { progress: silentProgress });
    const argv = [kubectl, 'get', kinds, '-A', '-l', label, '-o', 'name'] as const;
    const { stdout } = await tryRun(enterNamespace(this.#network, [...argv]), {
      env: { KUBECONFIG: this.lab.credentials.adminKubeconfig },
    });
    return stdout.split('\n').filter((line) => line !== '');
  }

  async #declare(namespace: string): Promise<void> {
    const pod = `web-${namespace}`;
    await this.lab.pods.run({
      namespace,
      name: pod,
      nodeIndex: 1,
      labels: { app: pod },
      ports: [{ port: 8080, protocol: 'TCP' }],
      ready: true,
      hostNetwork: false,
      server: 'own',
    });
    const service = await this.lab.api.create<Service>(paths.services(namespace), {
      metadata: { name: 'web' },
      spec: { selector: { app: pod }, ports: [{ port: 80, targetPort: 8080, protocol: 'TCP' }] },
    });
    this.#services.set(namespace, { service, pod });
    await this.lab.slices.until(namespace, {
      what: `the pod of ${namespace}`,
      holds: (slices) => slices.some(({ endpoints }) => (endpoints ?? []).length > 0),
    });
  }

  get #network(): string {
    return this.lab.namespacePath('machine');
  }

  /** Mounts end with the process: the namespace is its own. */
  #ownFolders(argv: readonly string[]): [string, ...string[]] {
    const binds = OWN_FOLDERS.map((name) => `mount --bind ${join(this.folder, name)} /${name}`);
    const script = `${binds.join(' && ')} && exec "$@"`;
    return ['unshare', '--mount', 'sh', '-c', script, 'sh', ...argv];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopAgent();
    await this.lab[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true });
  }
}
