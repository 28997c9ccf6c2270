import { enterNamespace } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import { FAMILIES, type Family, nodeName } from '../../lab/network/plan.ts';
import { startNetexec } from '../../lab/servers/netexec.ts';
import { resolveTarget } from '../questions/resolve.ts';
import type { Change } from '../scenario.ts';
import type { World } from '../world.ts';

type Start = Extract<Change, { startNodeCache: string }>;

const PORT = 53;
const PROTOCOLS = ['tcp', 'udp'] as const;
/** Either backend of iptables does: the kernel runs the rules of both, whichever the proxy uses. */
const PROGRAM: Readonly<Record<Family, string>> = { ipv4: 'iptables-nft', ipv6: 'ip6tables-nft' };

/** As cmd/node-cache/app of kubernetes/dns sets up a node: servers first, then address and rules. */
export async function startNodeCache(world: World, start: Start): Promise<void> {
  const { startNodeCache: name, node, service } = start;
  const namespacePath = world.lab.namespacePath(nodeName(node));
  const stack = new AsyncDisposableStack();
  world.note(name, stack);
  for (const family of FAMILIES) {
    const { address } = resolveTarget(world, { clusterIP: service }, family);
    const inNode = async (...argv: [string, ...string[]]): Promise<void> => {
      await run(enterNamespace(namespacePath, argv));
    };
    // The kernel of the lab has no dummy devices. Without nodad it may be too early to bind to it.
    const nodad = family === 'ipv6' ? ['nodad'] : [];
    await inNode('ip', 'address', 'add', address, 'dev', 'lo', ...nodad);
    stack.defer(() => inNode('ip', 'address', 'delete', address, 'dev', 'lo'));
    const ports = [
      { port: PORT, protocol: 'TCP' },
      { port: PORT, protocol: 'UDP' },
    ] as const;
    stack.use(await startNetexec({ namespacePath, address, hostname: name, ports }));
    for (const rule of rulesFor(address)) {
      const change = (action: string): Promise<void> =>
        inNode(PROGRAM[family], '-w', '-t', rule.table, action, rule.chain, ...rule.match);
      await change('-I');
      stack.defer(() => change('-D'));
    }
  }
}

interface Rule {
  readonly table: 'raw' | 'filter';
  readonly chain: string;
  readonly match: readonly string[];
}

function rulesFor(address: string): Rule[] {
  return PROTOCOLS.flatMap((protocol): Rule[] => {
    const to = ['-p', protocol, '-d', address, '--dport', `${PORT}`];
    const from = ['-p', protocol, '-s', address, '--sport', `${PORT}`];
    return [
      { table: 'raw', chain: 'PREROUTING', match: [...to, '-j', 'NOTRACK'] },
      { table: 'filter', chain: 'INPUT', match: [...to, '-j', 'ACCEPT'] },
      { table: 'raw', chain: 'OUTPUT', match: [...from, '-j', 'NOTRACK'] },
      { table: 'filter', chain: 'OUTPUT', match: [...from, '-j', 'ACCEPT'] },
      { table: 'raw', chain: 'OUTPUT', match: [...to, '-j', 'NOTRACK'] },
    ];
  });
}
