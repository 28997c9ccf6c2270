import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { enterNamespace } from '../../lab/host/namespaces.ts';
import { type Daemon, startDaemon } from '../../lab/host/processes.ts';
import { run } from '../../lab/host/run.ts';
import type { Forwarded, ForwardingSite } from './site.ts';

export interface HaproxyOptions {
  readonly name: string;
  readonly threads: number;
  /** Undefined: its default of 16 KiB. */
  readonly bufferBytes?: number;
  /** Connections that it may hold. */
  readonly mostConnections: number;
  /** Which of those that run side by side it is. */
  readonly index: number;
}

/** Above the ports of the agent, which listens at all addresses. */
const FIRST_PORT = 11_000;
const RULES_DEADLINE_MS = 60_000;

/**
 * Several run beside Fairlead, so each has addresses of its own for the same Services: those of the
 * Services with another first byte.
 */
export function frontendAddress(address: string, index: number): string {
  return address.replace(/^\d+/, `${11 + index}`);
}

/** Where it listens: at no other address, so that it takes no port from connections of others. */
function ownAddress(index: number): string {
  return `169.254.119.${index + 1}`;
}

/**
 * HAProxy in TCP mode behind one nftables map: a listener for each Service, whose port the map gives.
 * So HAProxy need not find out where a connection was going to, which would cost it a system call
 * and a lookup for each: this is the cheapest way in CPU time to have it serve many Services.
 */
export async function startHaproxy(site: ForwardingSite, options: HaproxyOptions): Promise<Daemon> {
  const folder = join(site.lab.folder, 'proxies', options.name);
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, haproxyConfiguration(site.forwarded, options));
  await run(enterNamespace(site.nodePath, ['nft', '-f', '-']), {
    input: haproxyRules(site.forwarded, options.index),
    deadlineMs: RULES_DEADLINE_MS,
  });
  const route = `route replace local ${ownAddress(options.index)} dev lo table local`;
  await run(enterNamespace(site.nodePath, ['ip', ...route.split(' ')]));
  return startDaemon({
    name: options.name,
    namespacePath: site.nodePath,
    argv: ['haproxy', '-db', '-f', file],
    logFile: join(site.lab.folder, 'logs', `${options.name}.log`),
  });
}

export async function haproxyVersion(): Promise<string> {
  const [, version = 'of an unknown version'] =
    /version (\S+)/.exec(await run(['haproxy', '-v'])) ?? [];
  return version;
}

/** Only what it needs: no checks, no logs, its own choice of endpoints (round robin). */
export function haproxyConfiguration(
  forwarded: readonly Forwarded[],
  { threads, bufferBytes, mostConnections, index: own }: HaproxyOptions,
): string {
  const lines = [
    'global',
    `  nbthread ${threads}`,
    `  maxconn ${mostConnections}`,
    ...(bufferBytes === undefined ? [] : [`  tune.bufsize ${bufferBytes}`]),
    'defaults',
    '  mode tcp',
    `  maxconn ${mostConnections}`,
    '  timeout connect 3s',
    '  timeout client 1h',
    '  timeout server 1h',
  ];
  for (const [index, { endpoints }] of forwarded.entries()) {
    lines.push(`listen s${index}`, `  bind ${ownAddress(own)}:${FIRST_PORT + index}`);
    for (const [serial, endpoint] of endpoints.entries()) {
      lines.push(`  server e${serial} ${endpoint}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

export function haproxyRules(forwarded: readonly Forwarded[], own: number): string {
  const elements = forwarded.map(({ address, port }, index) => {
    const frontend = `${frontendAddress(address, own)} . ${port}`;
    return `${frontend} : ${ownAddress(own)} . ${FIRST_PORT + index}`;
  });
  return `table ip bench-haproxy-${own} {
  map services {
    type ipv4_addr . inet_service : ipv4_addr . inet_service
    elements = { ${elements.join(', ')} }
  }
  chain prerouting {
    type nat hook prerouting priority dstnat
    meta l4proto tcp dnat ip to ip daddr . tcp dport map @services
  }
}
`;
}
