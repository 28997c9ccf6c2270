import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { arch, cpus, loadavg, release, totalmem } from 'node:os';
import { gunzipSync } from 'node:zlib';
import { run } from '../lab/host/run.ts';
import { KUBERNETES_VERSION } from '../lab/parts/build.ts';
import { SHIPPED_AS } from './bundle.ts';

type InterruptTime = 'with the task' | 'apart' | 'in an unknown way';

/** What the figures were measured on, and how much else it had to do. */
export interface Machine {
  readonly cpus: string;
  readonly memoryGib: number;
  readonly kernel: string;
  /**
   * Where the kernel counts what it does in interrupts for packets. With the task that was
   * interrupted: that is the one that sent them. Apart: CPU times of the data path lack it.
   */
  readonly interruptTime: InterruptTime;
  readonly node: string;
  readonly kubernetes: string;
  readonly nft: string;
  readonly iptables: string;
  /** The commit that was measured; with `+` if files differ from it. */
  readonly fairlead: string;
  readonly shippedAs: string;
  /** Load average of one minute, before the measurement. */
  readonly loadBefore: number;
}

const GIB = 1024 ** 3;

export async function describeMachine(): Promise<Machine> {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return {
    cpus: `${cpus().length} x ${model} (${arch()})`,
    memoryGib: Math.round(totalmem() / GIB),
    kernel: release(),
    interruptTime: await interruptTime(),
    node: process.version,
    kubernetes: KUBERNETES_VERSION,
    nft: wordOf(await run(['nft', '--version']), 1),
    iptables: wordOf(await run(['xtables-nft-multi', 'iptables', '--version']), 1),
    fairlead: await commit(),
    shippedAs: SHIPPED_AS,
    loadBefore: loadavg()[0] ?? Number.NaN,
  };
}

export function machineText(machine: Machine): string {
  return [
    `${machine.cpus}, ${machine.memoryGib} GB, kernel ${machine.kernel}, which counts interrupts ${machine.interruptTime}`,
    `Kubernetes ${machine.kubernetes}, nft ${machine.nft}, iptables ${machine.iptables}, Node ${machine.node}`,
    `Fairlead ${machine.fairlead} as shipped: ${machine.shippedAs}`,
    `load before: ${machine.loadBefore.toFixed(1)}`,
  ].join('; ');
}

function wordOf(text: string, index: number): string {
  return text.trim().split(' ')[index] ?? '';
}

async function interruptTime(): Promise<InterruptTime> {
  const [packed, plain] = ['/proc/config.gz', `/boot/config-${release()}`];
  if (!existsSync(packed) && !existsSync(plain)) return 'in an unknown way';
  const configuration = existsSync(packed)
    ? gunzipSync(await readFile(packed)).toString()
    : await readFile(plain, 'utf8');
  const isApart = configuration.split('\n').includes('CONFIG_IRQ_TIME_ACCOUNTING=y');
  return isApart ? 'apart' : 'with the task';
}

/** A copy of the sources without their history is measured as well. */
async function commit(): Promise<string> {
  const cwd = import.meta.dirname;
  try {
    return (await run(['git', 'describe', '--always', '--dirty=+'], { cwd })).trim();
  } catch {
    return 'of an unknown commit';
  }
}
