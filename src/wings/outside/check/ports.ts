import type { Settings } from '../../../config/settings.ts';
import { type BasicFinding, good, problem } from '../../../doctor/basic-finding.ts';
import { socketOwners } from '../../../linux/host-sockets/socket-owner.ts';
import { listHostSockets } from '../../../linux/host-sockets/watch-host-sockets.ts';
import { networkProcesses } from '../../../linux/network-processes.ts';
import { NftConnection } from '../../../linux/nftables/nft-connection.ts';
import { openNetfilter } from '../../../modes/netfilter.ts';
import { check, warning } from './outside-check.ts';
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
export const ports = check('ports', async ({ settings }) =>
  judgePorts(await wantedPorts(settings)),
);

/** Whether another proxy serves Services on this machine. */
export const otherProxies = check('other proxies', async ({ settings }) =>
  judgeProxies([...proxyProcesses(), ...(await proxyTables(settings))]),
);

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

export function judgePorts(wanted: readonly WantedPort[]): BasicFinding {
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
function proxyProcesses(): string[] {
  const proxies = networkProcesses().filter(({ name }) => name === OTHER_PROXY);
  return proxies.map(({ name, pid }) => `the process ${name} (pid ${pid})`);
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

export function judgeProxies(found: readonly string[]): BasicFinding {
  if (found.length === 0) return good('none');
  const next =
    'stop that proxy and remove its rules (kube-proxy --cleanup), or both translate the same addresses';
  return warning(`found ${found.join(', ')}`, next);
}
