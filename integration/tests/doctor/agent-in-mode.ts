import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Agent, startAgent } from '../../../src/commands/doctor/testing/examined-node.ts';
import { type ModeName, traitsOf } from '../../../src/config/modes.ts';
import { compiledProgram } from '../../../src/linux/ebpf/testing/compiled-program.ts';
import { ownPlace } from '../../../src/linux/ebpf/testing/own-place.ts';
import { WITHOUT_IPVS } from '../../../src/linux/ipvs/testing/load-ipvs.ts';

const KERNEL_TYPES = '/sys/kernel/btf/vmlinux';

/** A reason to skip a test of a mode on this kernel, or false. */
export function cannotRun(mode: ModeName): string | false {
  if (isEbpf(mode)) return existsSync(KERNEL_TYPES) ? false : 'the kernel has no BTF';
  return mode === 'ipvs' ? WITHOUT_IPVS : false;
}

/** A real agent in one mode, ready; ends with the test, and with it everything that the mode has. */
export async function agentInMode(t: TestContext, mode: ModeName): Promise<Agent> {
  const agent = isEbpf(mode) ? await ebpfAgent(t, mode) : await plainAgent(t, mode);
  t.after(() => agent[Symbol.asyncDispose]());
  return agent;
}

type EbpfMode = Extract<ModeName, `${string}-ebpf`>;

function isEbpf(mode: ModeName): mode is EbpfMode {
  return mode.endsWith('-ebpf');
}

async function plainAgent(t: TestContext, mode: Exclude<ModeName, EbpfMode>): Promise<Agent> {
  const line = traitsOf(mode).isOfKubeProxy ? `mode: ${mode}` : `fairlead: { mode: ${mode} }`;
  return await startAgent(['--config', await configFile(t, line)], mode);
}

async function ebpfAgent(t: TestContext, mode: EbpfMode): Promise<Agent> {
  for (const name of ['sock', 'tc'] as const) compiledProgram(name);
  const { cgroup, pins, leave } = ownPlace(`doctor-${mode}`);
  t.after(leave);
  const own = `mode: ${mode}, cgroup: ${cgroup}, pinFolder: ${pins}/fairlead`;
  return await startAgent(['--config', await configFile(t, `fairlead: { ${own} }`)]);
}

/** A configuration with one more line. */
export async function configFile(t: TestContext, line: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-doctor-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'config.yaml');
  const lines = [
    'apiVersion: kubeproxy.config.k8s.io/v1alpha1',
    'kind: KubeProxyConfiguration',
    'clusterCIDR: 10.244.0.0/16,fd44::/16',
    line,
  ];
  await writeFile(path, lines.join('\n'));
  return path;
}
