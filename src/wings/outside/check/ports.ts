import { readdir, readFile, readlink } from 'node:fs/promises';
import { systemCode } from '../../../cluster/errors.ts';
import type { Settings } from '../../../config/settings.ts';
import { socketOwners } from '../../../linux/host-sockets/socket-owner.ts';
import { listHostSockets } from '../../../linux/host-sockets/watch-host-sockets.ts';
import { NftConnection } from '../../../linux/nftables/connection.ts';
import { openNetfilter } from '../../../modes/netfilter.ts';
import { type Check, type Finding, good, problem, warning } from './check.ts';
import { hostPort } from './pod-routes.ts';

const OWN_PROGRAM = 'fairlead';
const OTHER_PROXY = 'kube-proxy';

/** A port that Fairlead wants, and who has it. */
export interface WantedPort {
  readonly ip: string;
  readonly port: number;
  /** Undefined: free. Empty program: a process that cannot be seen. */
  readonly holder: { readonly program: string; readonly pid?: number } | undefined;
}

/** Whether the ports of the health and metrics servers are free, or Fairlead's. */
export const ports: Check = {
  name: 'ports',
  run: async ({ settings }) => judgePorts(await wantedPorts(settings)),
};

/** Whether another proxy serves Services on this machine. */
export const otherProxies: Check = {
  name: 'other proxies',
  run: async ({ settings }) =>
    judgeProxies([...(await proxyProcesses()), ...(await proxyTables(settings))]),
};

async function wantedPorts(settings: Settings): Promise<WantedPort[]> {
  const wanted = [settings.metricsServer, settings.healthServer].filter(
    (each) => each !== undefined,
  );
  const sockets = (await listHostSockets()).filter(({ protocol }) => protocol === 'TCP');
  const held = wanted.map(({ ip, port }) => ({
    ip,
    port,
    inode: sockets.find((socket) => socket.port === port && overlaps(socket.address, ip))?.inode,
  }));
  const owners = await socketOwners(new Set(held.flatMap(({ inode }) => inode ?? [])));
  return held.map(({ ip, port, inode }) => ({
    ip,
    port,
    holder: inode === undefined ? undefined : (owners.get(inode) ?? { program: '' }),
  }));
}

/** Empty and unspecified addresses are all addresses. */
function overlaps(bound: string, wanted: string): boolean {
  const isAll = (text: string): boolean => text === '' || text === '0.0.0.0' || text === '::';
  return bound === wanted || isAll(bound) || isAll(wanted);
}

export function judgePorts(wanted: readonly WantedPort[]): Finding {
  const taken = wanted.filter(({ holder }) => holder && !holder.program.startsWith(OWN_PROGRAM));
  if (taken.length === 0) {
    const texts = wanted.map(({ ip, port, holder }) => {
      return `${hostPort(ip, port)} ${holder ? 'held by Fairlead' : 'free'}`;
    });
    return good(texts.join(', '));
  }
  const texts = taken.map(({ ip, port, holder }) => {
    const who = holder?.program ? `${holder.program} (pid ${holder.pid})` : 'another process';
    return `${hostPort(ip, port)} is held by ${who}`;
  });
  const next = 'stop that process, or set metricsBindAddress and healthzBindAddress to other ports';
  return problem(texts.join('; '), next);
}

/** Those of this network namespace: a node in a container has one of its own. */
async function proxyProcesses(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const own = await networkOf('self');
  const found: string[] = [];
  for (const pid of pids) {
    if ((await nameOf(pid)) !== OTHER_PROXY || (await networkOf(pid)) !== own) continue;
    found.push(`the process ${OTHER_PROXY} (pid ${pid})`);
  }
  return found;
}

async function nameOf(pid: string): Promise<string> {
  return (await ifAlive(() => readFile(`/proc/${pid}/comm`, 'utf8'))).trim();
}

async function networkOf(pid: string): Promise<string> {
  return await ifAlive(() => readlink(`/proc/${pid}/ns/net`));
}

/** Empty: the process has ended, or belongs to another user. */
async function ifAlive(read: () => Promise<string>): Promise<string> {
  try {
    return await read();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return '';
  }
}

/** Its tables of nftables mode; its chains of iptables mode, unless they may be Fairlead's own. */
async function proxyTables({ mode }: Settings): Promise<string[]> {
  using connection = new NftConnection(openNetfilter('requests'));
  const found: string[] = [];
  for (const family of ['ip', 'ip6'] as const) {
    const own = await connection.chains({ family, name: OTHER_PROXY });
    if (own.length > 0) found.push(`the table ${family} ${OTHER_PROXY}`);
    const nat = mode === 'iptables' ? [] : await connection.chains({ family, name: 'nat' });
    if (nat.some(({ name }) => name === 'KUBE-SERVICES')) {
      found.push(`the chain KUBE-SERVICES (${family})`);
    }
  }
  return found;
}

export function judgeProxies(found: readonly string[]): Finding {
  if (found.length === 0) return good('none');
  const next =
    'stop that proxy and remove its rules (kube-proxy --cleanup), or both translate the same addresses';
  return warning(`found ${found.join(', ')}`, next);
}
