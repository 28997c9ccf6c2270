import { readFile } from 'node:fs/promises';
import { arch, cpus, loadavg, release, totalmem } from 'node:os';
import { run } from '../../lab/host/run.ts';
import { KUBERNETES_VERSION } from '../../lab/parts/build.ts';
import { SHIPPED_AS } from './shipped.ts';

/** What the figures were measured on, and how much else it had to do: one line for each table. */
export interface Machine {
  readonly cpus: string;
  readonly memoryGib: number;
  readonly kernel: string;
  readonly node: string;
  readonly kubernetes: string;
  readonly nft: string;
  readonly fairlead: string;
  /** Of the last minute, before anything was measured. */
  readonly loadBefore: number;
}

const GIB = 1024 ** 3;

export async function describeMachine(): Promise<Machine> {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return {
    cpus: `${cpus().length} x ${model} (${arch()})`,
    memoryGib: Math.round(totalmem() / GIB),
    kernel: release(),
    node: process.version,
    kubernetes: KUBERNETES_VERSION,
    nft: (await run(['nft', '--version'])).split(' ')[1] ?? '',
    fairlead: SHIPPED_AS,
    loadBefore: loadavg()[0] ?? Number.NaN,
  };
}

export async function machineText(machine: Machine): Promise<string> {
  const load = (await readFile('/proc/loadavg', 'utf8')).split(' ')[0];
  return [
    `${machine.cpus}, ${machine.memoryGib} GB, kernel ${machine.kernel}`,
    `Kubernetes ${machine.kubernetes}, nft ${machine.nft}, Node ${machine.node}`,
    `Fairlead as shipped: ${machine.fairlead}`,
    `load ${machine.loadBefore.toFixed(1)} before and ${load} after`,
  ].join('; ');
}
