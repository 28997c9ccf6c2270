import { readFile } from 'node:fs/promises';
import { processesByNamespace } from '../../../lab/host/namespace-processes.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { run } from '../../../lab/host/run.ts';
import type { Lab } from '../../../lab/lab.ts';

const ROLES = ['node1', 'node2', 'fabric', 'client', 'machine'];
/** Each line of their output is a trace. Fairlead's own tables come and go with its agents. */
const SCRIPT = `
ip -o -4 route show table all | sort
ip -o -4 rule
ip -o -4 address | sed 's/ valid_lft.*//'
ip -4 neigh show nud permanent | sort
nft list tables | grep -v fairlead
sysctl net.ipv4.ip_forward
sysctl -a --pattern 'net.ipv4.conf.*.rp_filter' | sort
true`;
const SHOWN = 6;
/** A process that has ended meanwhile, or one by which mode iptables reads its rules now and then. */
const PASSING = /^$|^xtables/;

/** Everything that an incident could leave behind in the lab, a line each. */
export async function fingerprint(lab: Lab): Promise<string[]> {
  const traces = ROLES.map(async (role) => {
    const path = lab.namespacePath(role);
    const text = await run(enterNamespace(path, ['sh', '-c', SCRIPT]));
    const names = await processesIn(path);
    const lines = text.split('\n').filter((line) => line !== '');
    return [...lines, ...names].map((line) => `${role}: ${line.trim()}`);
  });
  return (await Promise.all(traces)).flat();
}

async function processesIn(path: string): Promise<string[]> {
  const pids = [...(await processesByNamespace([path])).values()].flat();
  const names = await Promise.all(
    pids.map((pid) =>
      // It may have ended since it was listed.
      readFile(`/proc/${pid}/comm`, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ESRCH') return '';
        throw error;
      }),
    ),
  );
  return names.filter((name) => !PASSING.test(name)).map((name) => `process ${name}`);
}

/** Empty: the same; lines are compared with their count. */
export function fingerprintDifference(before: readonly string[], after: readonly string[]): string {
  const [left, right] = [countsOf(before), countsOf(after)];
  const all = new Set([...left.keys(), ...right.keys()]);
  const differing = [...all].flatMap((line) => {
    const more = (right.get(line) ?? 0) - (left.get(line) ?? 0);
    return more === 0 ? [] : [`${more > 0 ? '+' : '-'} ${line}`];
  });
  return differing.slice(0, SHOWN).join('; ');
}

function countsOf(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
