import { LabError } from '../lab/host/errors.ts';
import { enterNamespace, ipBatch, namespaceName, namespacePath } from '../lab/host/namespaces.ts';
import { run } from '../lab/host/run.ts';
import type { Contestant } from './contestants.ts';
import { NODE } from './control/proxy-process.ts';
import type { BareFigures } from './record.ts';
import type { Site } from './site/site.ts';

/** On the nft backend of iptables a whole table at once takes minutes: longer is not waited for. */
const BOUND_MS = 60_000;
const ROLE = 'bare';

interface Copied {
  readonly milliseconds: number;
  readonly cpuSeconds: number;
  readonly bytes: number;
}

/** The cost of the same rules when a program that does nothing else writes them. */
export async function measureBare(site: Site, contestant: Contestant): Promise<BareFigures[]> {
  const of = { size: site.size, proxy: contestant.name };
  const figures: BareFigures[] = [];
  if (!contestant.isLegacy) {
    const copied = await inEmptyNetwork(site, (path) => copy(site, path));
    figures.push({ ...of, by: 'netlink', ...copied });
  }
  if (contestant.rules === 'iptables') {
    const tables = await savedTables(site, contestant);
    const restored = await inEmptyNetwork(site, (path) => restore(path, contestant, tables));
    figures.push({ ...of, by: 'iptables-restore', ...restored });
  }
  return figures;
}

async function copy(site: Site, to: string): Promise<Copied> {
  const from = site.lab.namespacePath(NODE);
  const argv: [string, ...string[]] = [site.data.program, 'copy', `--from=${from}`, `--to=${to}`];
  return JSON.parse(await run(argv, { deadlineMs: BOUND_MS })) as Copied;
}

async function savedTables(site: Site, contestant: Contestant): Promise<string> {
  const argv: [string, ...string[]] = [programOf(contestant), 'iptables-save'];
  const path = site.lab.namespacePath(NODE);
  const saved = await run(enterNamespace(path, argv), { deadlineMs: BOUND_MS });
  // One or two rules count in accounting objects, which an empty network does not have.
  const lines = saved.split('\n').filter((line) => !line.includes('-m nfacct'));
  return lines.join('\n');
}

async function restore(
  path: string,
  contestant: Contestant,
  tables: string,
): Promise<Partial<Copied>> {
  const begunAtMs = performance.now();
  await run(enterNamespace(path, [programOf(contestant), 'iptables-restore']), {
    input: tables,
    deadlineMs: BOUND_MS,
  });
  return { milliseconds: performance.now() - begunAtMs, bytes: tables.length };
}

function programOf({ isLegacy }: Contestant): string {
  return isLegacy ? 'xtables-legacy-multi' : 'xtables-nft-multi';
}

async function inEmptyNetwork<T extends object>(
  { lab }: Site,
  work: (path: string) => Promise<T>,
): Promise<T | { ended: string }> {
  const name = { lab: lab.name, role: ROLE };
  await ipBatch([`netns add ${namespaceName(name)}`]);
  try {
    return await work(namespacePath(name));
  } catch (error) {
    if (!(error instanceof LabError) || error.code !== 'LAB_COMMAND_TIMED_OUT') throw error;
    return { ended: `not within ${BOUND_MS / 1_000} s` };
  } finally {
    await ipBatch([`netns delete ${namespaceName(name)}`]);
  }
}
