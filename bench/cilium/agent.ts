import { existsSync } from 'node:fs';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { LabError } from '../../lab/host/errors.ts';
import { terminalProgress } from '../../lab/host/progress.ts';
import { CILIUM_VERSION, ciliumSources, provideCilium } from '../../lab/parts/cilium.ts';
import type { GoBuildContext } from '../../lab/parts/go-build.ts';
import type { ProxyPlace, ProxyVariant } from '../../lab/proxies/contract.ts';
import { METRICS_PORT } from '../../lab/proxies/kube-proxy-configuration.ts';
import { MAP_ENTRIES } from './map-entries.ts';

const SCRIPT = join(import.meta.dirname, 'agent.sh');
/** Debian's default, 14, is older than what Cilium is tested with. */
const CLANG = '/usr/bin/clang-19';

export interface AgentOptions {
  readonly name: string;
  /** How long it gathers events of the API server before it handles them; not given: its default, 500 ms. */
  readonly waitMs?: number;
}

/** Cilium's agent in place of kube-proxy: socket hooks, and everything switched off that is not a proxy. */
export function ciliumAgent({ name, waitMs }: AgentOptions): ProxyVariant {
  const provide = (context: GoBuildContext): Promise<string> =>
    provideCilium('cilium-agent', context);
  return {
    name,
    description: `Cilium ${CILIUM_VERSION} in place of kube-proxy`,
    servesSockets: true,
    build: provide,
    async prepare(place) {
      const program = await provide({ progress: terminalProgress() });
      const tools = await linkTools(place.folder);
      const wait = waitMs === undefined ? [] : [`--lb-reflector-wait-time=${waitMs}ms`];
      return {
        argv: [SCRIPT, place.folder, cgroupOf(place), program, ...flags(place), ...wait],
        env: {
          K8S_NODE_NAME: place.nodeName,
          CILIUM_K8S_NAMESPACE: 'kube-system',
          PATH: `${tools}${delimiter}${process.env['PATH'] ?? ''}`,
          XTABLES_LOCKFILE: join(place.folder, 'xtables.lock'),
        },
      };
    },
    // It has no metric for "everything is in the kernel": when the last Service answers is what counts.
    synced: async (read) => ((await read(METRICS_PORT, '/metrics')) ?? '').includes('cilium_'),
  };
}

function cgroupOf({ sockets }: ProxyPlace): string {
  if (sockets !== undefined) return sockets.cgroupPath;
  throw new LabError('LAB_USAGE', 'Cilium needs the control group of its node', {
    next: 'measure it as one of the proxies that have programs in the kernel',
  });
}

/** A folder in which `clang` is new enough, and the sources of its programs where it looks for them. */
async function linkTools(folder: string): Promise<string> {
  if (!existsSync(CLANG)) {
    throw new LabError('LAB_TOOL_MISSING', `Cilium compiles its programs with ${CLANG}`, {
      next: 'apt-get install clang-19',
    });
  }
  const { bpfFolder } = await ciliumSources();
  const tools = join(folder, 'tools');
  await rm(join(folder, 'run'), { recursive: true, force: true });
  for (const [name, target, path] of [
    ['clang', CLANG, tools],
    ['bpf', bpfFolder, join(folder, 'lib')],
  ] as const) {
    await mkdir(path, { recursive: true });
    await rm(join(path, name), { force: true });
    await symlink(target, join(path, name));
  }
  return tools;
}

function flags({ folder, credentials }: ProxyPlace): string[] {
  return [
    // The role of kube-proxy is too small for it.
    `--k8s-kubeconfig-path=${credentials.adminKubeconfig}`,
    `--state-dir=${join(folder, 'run')}`,
    `--lib-dir=${join(folder, 'lib')}`,
    `--bpf-root=${join(folder, 'bpf')}`,
    `--cgroup-root=${join(folder, 'cgroup')}`,
    `--socket-path=${join(folder, 'run', 'cilium.sock')}`,
    '--kube-proxy-replacement=true',
    '--bpf-lb-sock=true',
    `--bpf-lb-map-max=${MAP_ENTRIES}`,
    '--devices=eth0',
    '--enable-ipv4=true',
    '--enable-ipv6=true',
    // Routes and source addresses are those of the lab, as beside every other proxy.
    '--routing-mode=native',
    '--enable-ipv4-masquerade=false',
    '--enable-ipv6-masquerade=false',
    '--enable-local-node-route=false',
    '--install-iptables-rules=true',
    '--ipam=kubernetes',
    '--identity-allocation-mode=crd',
    // What is no work of a proxy.
    '--enable-policy=never',
    '--enable-l7-proxy=false',
    '--enable-envoy-config=false',
    '--enable-health-checking=false',
    '--enable-endpoint-health-checking=false',
    '--enable-hubble=false',
    '--enable-gops=false',
    `--prometheus-serve-addr=127.0.0.1:${METRICS_PORT}`,
  ];
}
