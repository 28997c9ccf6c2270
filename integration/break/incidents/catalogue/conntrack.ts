import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError } from '../../../../lab/host/errors.ts';
import { enterNamespace } from '../../../../lab/host/namespaces.ts';
import { tryRun } from '../../../../lab/host/run.ts';
import type { Incident } from '../incident.ts';
import type { IncidentScene } from '../scene.ts';
import { FROM_CART, WEB } from '../shop.ts';

const SOURCE_PORT = 40_053;
/** Of the network of node2; no machine has it. */
const NOBODY = '10.130.0.250';
const MAX = '/proc/sys/net/netfilter/nf_conntrack_max';
const COUNT = '/proc/sys/net/netfilter/nf_conntrack_count';
const PORTS = 60_000;
const SHORT_STATES = ['SYN_SENT', 'SYN_RECV', 'FIN_WAIT', 'LAST_ACK', 'TIME_WAIT', 'CLOSE'];
const FILL_DEADLINE_MS = 120_000;

/** What connection tracking of node1 remembers. */
export const CONNTRACK_INCIDENTS: readonly Incident[] = [
  {
    name: 'stale conntrack entry',
    produce: async (scene, undo) => {
      const { ipv4 } = scene.cart.address;
      await scene.on('node1', 'conntrack', ...staleEntry(ipv4));
      undo.defer(async () => {
        const argv = `conntrack -D -p udp -s ${ipv4} --sport ${SOURCE_PORT} 2>/dev/null; true`;
        await scene.on('node1', 'sh', '-c', argv);
      });
    },
    client: { from: 'cart', to: `${WEB}:80/udp`, times: 1, sourcePort: SOURCE_PORT },
    gets: ['timed out'],
    explain: {
      typed: `explain ${WEB}:80/udp ${FROM_CART} --watch 20s`,
      code: 'NOT_AS_PREDICTED',
      exit: 4,
      says: /conntrack|existing flow|10\.130\.0\.250/,
      cause: /conntrack entry|stale|10\.130\.0\.250/,
      next: { names: /conntrack -D/, typed: 'repairs' },
      whileAsking: true,
    },
    notIn: {
      'socket-ebpf': 'its hooks have translated the datagram before conntrack looks for a flow',
    },
  },
  {
    name: 'conntrack is full',
    produce: fillTable,
    client: { from: 'cart', to: `${WEB}:80` },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/web:http ${FROM_CART}`,
      // The pod cannot be read: the API server is not reached for the same reason.
      code: undefined,
      exit: 1,
      says: /conntrack of this machine is full/,
      cause: /nf_conntrack_max|no room/,
      next: { names: /nf_conntrack_max/ },
    },
    doctor: { code: 'CONNTRACK_FULL', tells: /conntrack/ },
    also: [{ typed: 'status', tells: /conntrack/ }],
  },
];

function staleEntry(cart: string): string[] {
  return [
    ...['-I', '-p', 'udp', '-s', cart, '-d', WEB],
    ...['--sport', `${SOURCE_PORT}`, '--dport', '80'],
    ...['--reply-src', NOBODY, '--reply-dst', cart],
    ...['--reply-port-src', '8080', '--reply-port-dst', `${SOURCE_PORT}`],
    ...['--dst-nat', `${NOBODY}:8080`, '--status', 'SEEN_REPLY,ASSURED', '--timeout', '120'],
  ];
}

/**
 * The limit is the machine's, the count that of one network namespace: only node1 is full. Assured
 * entries, because the kernel drops others early to make room.
 */
async function fillTable(scene: IncidentScene, undo: AsyncDisposableStack): Promise<void> {
  const max = Number(await readFile(MAX, 'utf8'));
  undo.defer(async () => {
    await scene.on('node1', 'conntrack', '-F');
  });
  // Entries that expire would make room meanwhile: only established connections stay.
  const short = ['-p udp', ...SHORT_STATES.map((state) => `-p tcp --state ${state}`)];
  const script = short.map((entries) => `conntrack -D ${entries}`).join('; ');
  await scene.on('node1', 'sh', '-c', `(${script}) >/dev/null 2>&1; true`);
  const lines = Array.from({ length: max }, (_, at) => entry(at)).join('\n');
  const file = join(scene.lab.folder, 'entries');
  await writeFile(file, `${lines}\n`);
  undo.defer(() => rm(file));
  const argv = enterNamespace(scene.lab.namespacePath('node1'), ['conntrack', '-R', file]);
  // It ends with an error at the first entry that finds no room, as the node has some of its own.
  await tryRun(argv, { deadlineMs: FILL_DEADLINE_MS, signal: scene.signal });
  const count = Number(await scene.on('node1', 'cat', COUNT));
  if (count >= max) return;
  throw new LabError('LAB_COMMAND_FAILED', `conntrack has ${count} of ${max} entries`, {
    next: `type it on a node of a lab: conntrack -R ${file}`,
  });
}

function entry(at: number): string {
  const address = `192.0.2.${1 + Math.floor(at / PORTS)}`;
  const port = 1 + (at % PORTS);
  const ends = `-s ${address} -d 192.0.2.200 --sport ${port} --dport 9`;
  return `-I -p udp ${ends} --status SEEN_REPLY,ASSURED --timeout 300`;
}
