import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { run } from '../../../lab/host/run.ts';

/** A packet that begins a connection was not answered for a second. */
const SYN_SENT_AGAIN = 'TcpExtTCPSynRetrans';

/** Counters that show where a packet was lost: at the server, the client or in conntrack. */
const NAMES = [
  'TcpExtListenOverflows',
  'TcpExtListenDrops',
  'TcpExtTCPReqQFullDrop',
  'TcpExtTCPReqQFullDoCookies',
  'TcpExtTCPTimeouts',
  SYN_SENT_AGAIN,
  'TcpRetransSegs',
  'TcpAttemptFails',
  'TcpEstabResets',
  'TcpExtTCPBacklogDrop',
  'TcpExtTCPTimeWaitOverflow',
  'TcpExtTWRecycled',
  'IpInDiscards',
  'IpOutNoRoutes',
  'IpOutDiscards',
];
const TRACKING = [
  'invalid',
  'insert_failed',
  'drop',
  'early_drop',
  'clash_resolve',
  'chaintoolong',
];

/** A busy machine takes its time, and what is counted meanwhile is counted. */
const PATIENT = { deadlineMs: 120_000 };

export type Counters = Readonly<Record<string, number>>;

/** The counters of each network namespace, by its name. */
export async function readCounters(places: ReadonlyMap<string, string>): Promise<Counters> {
  const counters: Record<string, number> = {};
  for (const [place, namespacePath] of places) {
    const listing = await run(enterNamespace(namespacePath, ['nstat', '-asz', ...NAMES]), PATIENT);
    for (const [, name, value] of listing.matchAll(/^(\w+) +(\d+)/gm)) {
      counters[`${place} ${name}`] = Number(value);
    }
    const tracking = await run(enterNamespace(namespacePath, ['conntrack', '-S']), PATIENT);
    for (const name of TRACKING) {
      const values = [...tracking.matchAll(new RegExp(`\\b${name}=(\\d+)`, 'g'))];
      counters[`${place} conntrack ${name}`] = values.reduce((sum, [, n]) => sum + Number(n), 0);
    }
  }
  return counters;
}

/** Those that rose, and by how much. */
export function risen(before: Counters, after: Counters): Counters {
  const differences = Object.entries(after).map(
    ([name, value]) => [name, value - (before[name] ?? 0)] as const,
  );
  return Object.fromEntries(differences.filter(([, rise]) => rise !== 0));
}

/** How often a client of the load had to begin again, because a packet was lost. */
export function begunAgain(counters: Counters): number {
  return sumOf(counters, SYN_SENT_AGAIN);
}

/** How often a client had to send anything again. None, and a late answer is the machine's fault. */
export function sentAgain(counters: Counters): number {
  return sumOf(counters, 'TcpRetransSegs');
}

const ASKERS = ['asker', 'client'];

function sumOf(counters: Counters, name: string): number {
  return ASKERS.reduce((sum, place) => sum + (counters[`${place} ${name}`] ?? 0), 0);
}
