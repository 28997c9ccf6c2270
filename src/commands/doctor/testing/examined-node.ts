import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readStatus } from '../../../agent/servers/status-client.ts';
import type { StatusPage } from '../../../agent/status-page.ts';
import { STATUS_SOCKET } from '../../../config/run-folder.ts';
import { CHECKS } from '../../../doctor/doctor-checks.ts';
import type { Result } from '../../../doctor/finding.ts';
import { runDoctorChecks } from '../../../doctor/run-doctor-checks.ts';
import { ip } from '../../../linux/netlink/testing/own-namespace.ts';
import { kernelSysctls } from '../../../linux/sysctl.ts';
import { type ChildProgram, startChild } from '../../../linux/testing/child-program.ts';
import { isWell } from '../../status/summary.ts';
import { readPatient } from '../examined-subject.ts';

const MAIN = join(import.meta.dirname, '../../../main.ts');
const SHOP = join(import.meta.dirname, 'shop.yaml');
const DEADLINE_MS = 30_000;

export const POD = '10.244.1.10';

/** A healthy node in the network namespace of the test: an uplink, and a pod with its routes. */
export function layNetwork(): void {
  ip(
    'link add eth0 type veth peer name outside-0',
    'link set outside-0 up',
    'addr add 192.0.2.1/24 dev eth0',
    'addr add fd77::1/64 dev eth0 nodad',
    'link set eth0 up',
    'route add default via 192.0.2.254',
    'link add pod-1 type veth peer name in-pod-1',
    'link set pod-1 up',
    'link set in-pod-1 up',
    `route add ${POD}/32 dev pod-1`,
    'route add fd44:1::10/128 dev pod-1',
  );
  setSysctl('net/ipv4/ip_forward', '1');
  setSysctl('net/ipv6/conf/all/forwarding', '1');
}

export function setSysctl(name: string, value: string): void {
  kernelSysctls().write(name, value);
}

export interface Agent extends AsyncDisposable {
  readonly runFolder: string;
  readonly program: ChildProgram;
}

const USUAL_FLAGS = ['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16,fd44::/16'];

/** A real agent, ready. At its end the rules of one mode are removed, and its forwarder. */
export async function startAgent(
  flags: readonly string[] = ['--proxy-mode', 'nftables'],
  modeToRemove: 'nftables' | 'iptables' | 'ipvs' | 'userspace' = 'nftables',
  runFolder: string = mkdtempSync(join(tmpdir(), 'fairlead-doctor-')),
): Promise<Agent> {
  const args = [MAIN, 'run', '-f', SHOP, '--run-folder', runFolder, ...USUAL_FLAGS, ...flags];
  const program = await startChild([process.execPath, ...args]);
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  while (!(await isReady(runFolder))) {
    if (deadline.aborted || program.hasEnded()) throw new Error(`no agent: ${program.log()}`);
    await delay(50);
  }
  return {
    runFolder,
    program,
    [Symbol.asyncDispose]: async () => {
      program.send('SIGCONT');
      program.send('SIGTERM');
      await program.ended;
      // Not `cleanup` of all modes: eBPF programs may be of another process of this machine.
      const cleanup = ['cleanup', '--mode', modeToRemove, '--run-folder', runFolder];
      await (await startChild([process.execPath, MAIN, ...cleanup])).ended;
      // Another agent may have had it, too.
      rmSync(runFolder, { recursive: true, force: true });
    },
  };
}

async function examine(runFolder: string): Promise<readonly Result[]> {
  const { subject } = await readPatient(runFolder);
  return await runDoctorChecks(CHECKS, subject);
}

/** Level and code of everything that is not as it should be, each once. */
export async function complaints(runFolder: string): Promise<string[]> {
  const found = (await examine(runFolder)).filter(({ level }) => level !== 'ok');
  return [...new Set(found.map(({ level, code }) => `${level} ${code}`))];
}

async function isReady(runFolder: string): Promise<boolean> {
  try {
    const page = (await readStatus({ socketPath: join(runFolder, STATUS_SOCKET) })) as StatusPage;
    return isWell(page) && page.conditions.synced.isTrue;
  } catch {
    // It has not opened its socket yet; the caller has a deadline.
    return false;
  }
}
