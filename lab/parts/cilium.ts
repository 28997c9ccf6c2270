import { join } from 'node:path';
import { run } from '../host/run.ts';
import { type GoBuildContext, provideProgram } from './go-build.ts';

export const CILIUM_VERSION = 'v1.20.1';

const MODULE = 'cilium';
const IMPORT_PATH = 'github.com/cilium/cilium';
const LIST_DEADLINE_MS = 60_000;

const PROGRAMS = {
  'cilium-agent': `${IMPORT_PATH}/daemon`,
  /** Its control plane for load balancing with nothing around it, driven by lines on its standard input. */
  'cilium-load-balancer': `${IMPORT_PATH}/pkg/loadbalancer/repl`,
} as const;

type CiliumProgram = keyof typeof PROGRAMS;

/** Built when first asked for: the agent takes ten minutes. */
export async function provideCilium(name: CiliumProgram, context: GoBuildContext): Promise<string> {
  return await provideProgram(
    {
      name,
      module: MODULE,
      importPath: PROGRAMS[name],
      linkerFlags: `-s -w -X ${IMPORT_PATH}/pkg/version.ciliumVersion=${CILIUM_VERSION.slice(1)}`,
      sources: ['go.mod'],
    },
    context,
  );
}

/** Where Go keeps the sources of the module: the agent compiles its eBPF programs at its start. */
export interface CiliumSources {
  readonly bpfFolder: string;
  readonly crdFolders: readonly string[];
}

export async function ciliumSources(): Promise<CiliumSources> {
  const list = ['go', 'list', '-m', '-f', '{{.Dir}}', IMPORT_PATH] as const;
  const cwd = join(import.meta.dirname, MODULE);
  const folder = (await run([...list], { cwd, deadlineMs: LIST_DEADLINE_MS })).trim();
  const crds = join(folder, 'pkg/k8s/apis/cilium.io/client/crds');
  return {
    bpfFolder: join(folder, 'bpf'),
    crdFolders: [join(crds, 'v2'), join(crds, 'v2alpha1')],
  };
}
