import { hostname, networkInterfaces } from 'node:os';
import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { canonicalIp } from '../addresses/ip.ts';
import type { HostState } from '../forwarding/host-ports.ts';
import { unknownNode } from '../forwarding/unknown-node.ts';
import { listHostSockets } from '../linux/host-sockets/watch-host-sockets.ts';
import { CommandError } from './command-error.ts';
import { servicesData } from './services/data-view.ts';
import { Observation } from './services/observe.ts';
import { patiently } from './services/patience.ts';
import { isWanted, parseWish, type Row, rowsOf, viewText, type Wish } from './services/rows.ts';
import { servicesTable, servicesWide } from './services/table-view.ts';
import { openSource, type SourceOptions } from './source.ts';
import { printData, printJson, printNote, printPage } from './terminal/print.ts';

type Output = 'table' | 'wide' | 'json' | 'yaml';

interface ServicesOptions extends SourceOptions {
  readonly node: string;
  readonly output: Output;
}

/** `fairlead services`: what a node does with every Service, and why. */
export function servicesCommand(): Command {
  return new Command('services')
    .description(
      'what a node does with each Service: from a cluster, or from manifests without one',
    )
    .argument('[service]', 'namespace/name, or namespace/name:port; all when not given')
    .option('-f, --filename <paths...>', 'manifests: files, folders, or - for standard input')
    .option('--kubeconfig <file>', 'the cluster to ask; else $KUBECONFIG, else the one it runs in')
    .option('--context <name>', 'another context of the kubeconfig than the current one')
    .option('--node <name>', 'the node to see with', hostname().toLowerCase())
    .option('--watch', 'go on, and print what changes')
    .addOption(
      new Option('-o, --output <form>', 'for a person, or for a program')
        .choices(['table', 'wide', 'json', 'yaml'])
        .default('table'),
    )
    .action(show);
}

async function show(service: string | undefined, options: ServicesOptions): Promise<void> {
  const wish = parseWish(service);
  const observation = new Observation(unknownNode(options.node), await hostOf(options));
  const source = await openSource(options, options.node);
  const lifetime = new AbortController();
  const following = observation.follow(source, lifetime.signal);
  try {
    await patiently(observation.complete, source);
    print(observation, { wish, output: options.output });
    if (!options.watch) return;
    observation.table.takeChanges();
    observation.onChange = () => printChanges(observation, wish);
    await following;
  } finally {
    lifetime.abort();
    await following;
  }
}

/** Ports that processes hold are known of this machine only. */
async function hostOf({ node, filename }: ServicesOptions): Promise<HostState | undefined> {
  if (filename !== undefined || node !== hostname().toLowerCase()) return undefined;
  const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const addresses = interfaces.flatMap(({ address }) => canonicalIp(address) ?? []);
  return { addresses: [...new Set(addresses)], sockets: await listHostSockets() };
}

function print(observation: Observation, how: { wish: Wish; output: Output }): void {
  const rows = rowsOf(observation.table, how.wish);
  if (rows.length === 0 && how.wish.service !== undefined) {
    throw new CommandError(`there is no Service ${how.wish.service} that a proxy would serve`, {
      code: 'SERVICE_NOT_FOUND',
      next: "without a name, all are listed; headless and ExternalName ones are nobody's to serve",
    });
  }
  printRows(rows, how.output);
  if (how.output !== 'table') return;
  printNote(`\n${rows.length} ports, ${viewText(observation.table.view)}; -o wide says why`);
}

function printRows(rows: readonly Row[], output: Output): void {
  if (output === 'json') printJson(servicesData(rows));
  else if (output === 'yaml') printData(stringify(servicesData(rows)).trimEnd());
  else printPage(output === 'wide' ? servicesWide(rows) : servicesTable(rows));
}

function printChanges({ table }: Observation, wish: Wish): void {
  const at = new Date().toISOString();
  for (const { key, before, after } of table.takeChanges()) {
    if (!isWanted(wish, after ?? before)) continue;
    const text = after ? servicesTable([{ forwarding: after, candidates: [] }]) : `${key} is gone`;
    printPage(`\n${at}\n${text}`);
  }
}
