import { Command, Option } from 'commander';
import { updateDocument } from '../../lab/host/document.ts';
import { interruption } from '../../lab/host/interruption.ts';
import { terminalProgress } from '../../lab/host/progress.ts';
import { formatTable } from '../../lab/host/table.ts';
import { startLab } from '../../lab/lab.ts';
import { findProxy } from '../../lab/proxies/registry.ts';
import { LastService } from '../scale/last-service.ts';
import { measurePeer, type PeerFigures } from '../scale/peer.ts';
import { bareChangeSeconds, bareRestoreSeconds } from './bare-restore.ts';
import { bundledFairlead } from './bundled.ts';
import { measureDrift } from './drift.ts';
import { driftMarkdown, driftTable } from './drift-report.ts';

const BACKENDS = ['nft', 'legacy'] as const;
type BackendName = (typeof BACKENDS)[number];

interface Options {
  readonly measure: 'peers' | 'drift';
  readonly docs?: string;
  readonly backend: BackendName | 'both';
  readonly services: number;
  readonly endpoints: number;
  readonly changes: number;
}

/** Beyond it kube-proxy's rules have locked up a CPU in the kernel for a quarter of an hour. */
const MOST_SERVICES = 5_000;
/** Longer than upstream's least time between two syncs, which it would else spend waiting. */
const QUIET_MS = 1_500;

const program = new Command('iptables-speed')
  .description('Fairlead and kube-proxy in iptables mode, in the same cluster, one after the other')
  .addOption(
    new Option('--measure <what>', 'starts and changes, or the repair of what others do')
      .choices(['peers', 'drift'])
      .default('peers'),
  )
  .option('--docs <file>', 'write the table of repairs into a document, between its marks')
  .addOption(new Option('--backend <name>').choices([...BACKENDS, 'both']).default('both'))
  .option('--services <count>', 'how many Services', Number, MOST_SERVICES)
  .option('--endpoints <count>', 'endpoints of each', Number, 5)
  .option('--changes <count>', 'changed endpoints to wait for', Number, 10)
  .action(measure);

async function measure(options: Options): Promise<void> {
  if (options.services > MOST_SERVICES) throw new RangeError('too many for kube-proxy');
  const backends = options.backend === 'both' ? BACKENDS : [options.backend];
  if (options.measure === 'drift') await measureRepairs(backends, options);
  else for (const backend of backends) await measureOn(backend, options);
}

async function measureRepairs(backends: readonly BackendName[], options: Options): Promise<void> {
  const of = { progress: terminalProgress(), signal: interruption() };
  const load = { services: options.services, endpointsPerService: options.endpoints };
  const all = [];
  for (const backend of backends) {
    all.push({ backend, figures: await measureDrift(backend, load, of) });
  }
  console.log(driftTable(all));
  if (options.docs !== undefined) {
    await updateDocument(options.docs, 'iptables-drift', driftMarkdown(all));
  }
  const isLeft = all.some(({ figures }) => figures.some(({ left }) => left.length > 0));
  if (isLeft) process.exitCode = 1;
}

async function measureOn(backend: BackendName, options: Options): Promise<void> {
  const progress = terminalProgress();
  const signal = interruption();
  const load = { services: options.services, endpointsPerService: options.endpoints };
  await using lab = await startLab({ nodeCount: 2, load, progress, signal });
  const service = await LastService.create(lab);
  const suffix = backend === 'nft' ? '' : '-legacy';
  const figures: PeerFigures[] = [];
  const peers = [
    { variant: await bundledFairlead(backend), node: 'node1' },
    { variant: findProxy(`upstream-iptables${suffix}`), node: 'node2' },
  ];
  for (const { variant, node } of peers) {
    const peer = { variant, node, changes: options.changes, quietMs: QUIET_MS };
    figures.push(
      await progress.step(variant.name, () => measurePeer(lab, peer, { service, signal })),
    );
  }
  console.log(formatTable([HEAD, ...figures.map(rowOf)]));
  const [path, tool] = [lab.namespacePath('node1'), `xtables-${backend}-multi`];
  const one = await bareChangeSeconds(path, tool);
  console.log(`${backend}: iptables-restore of one rule into the same table nat alone: ${one}`);
  const bare = await progress.step(`a bare iptables-restore on ${backend}`, () =>
    bareRestoreSeconds(path, tool),
  );
  console.log(`${backend}: iptables-restore of the same table nat alone: ${bare}`);
}

const HEAD = ['PROXY', 'COLD START', 'CHANGE P50', 'P99', 'ITS CPU', 'MEMORY'];

function rowOf({ proxy, coldStartMs, changed, memory }: PeerFigures): string[] {
  const seconds = (ms: number | undefined): string =>
    ms === undefined ? 'not in time' : `${(ms / 1000).toFixed(2)} s`;
  return [
    proxy,
    seconds(coldStartMs),
    seconds(changed?.sinceSent.p50Ms),
    seconds(changed?.sinceSent.p99Ms),
    changed ? `${(changed.cpuSecondsPerChange * 1000).toFixed(0)} ms` : '',
    `${Math.round(memory.residentBytes / 2 ** 20)} MB`,
  ];
}

await program.parseAsync();
