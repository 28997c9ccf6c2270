import { hostname, networkInterfaces } from 'node:os';
import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { canonicalIp } from '../addresses/ip.ts';
import { nodeView } from '../agent/node-facts.ts';
import { loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import type { Settings } from '../config/settings.ts';
import type { HostState } from '../forwarding/host-ports.ts';
import type { NodeView } from '../forwarding/model.ts';
import { unknownNode } from '../forwarding/unknown-node.ts';

import { CommandError } from './command-error.ts';
import { servicesData } from './services/data-view.ts';
import { Observation } from './services/observe.ts';
import { patiently } from './services/patience.ts';
import {
  clientsText,
  isWanted,
  parseWish,
  type Row,
  rowsOf,
  viewText,
  type Wish,
} from './services/rows.ts';
import { servicesTable, servicesWide } from './services/table-view.ts';
import { socketsNow } from './sockets-now.ts';
import { openSource, type SourceOptions, warnOfGaps } from './source.ts';
import { printData, printJson, printNote, printPage, printWarning } from './terminal/print.ts';

type Output = 'table' | 'wide' | 'json' | 'yaml';

interface ServicesOptions extends SourceOptions {
  readonly node: string;
  readonly config?: string;
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
    .option(
      '--config <file>',
      'the configuration of the machine to see with; else that of any node',
    )
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
  const { view, nodeObject, clients, kubeconfig } = await seenFrom(options);
  const host = await hostOf(options);
  const observation = new Observation(view, { nodeObject, ...(host ? { host } : {}) });
  const source = await openSource(
    { ...kubeconfig, ...options },
    nodeObject === 'none' ? undefined : view.nodeName,
  );
  const lifetime = new AbortController();
  const following = observation.follow(source, lifetime.signal);
  try {
    await patiently(observation.complete, source);
    warnOfGaps(source.server?.());
    print(observation, { wish, output: options.output, clients });
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
  return { addresses: [...new Set(addresses)], sockets: await socketsNow() };
}

interface SeenFrom {
  readonly view: NodeView;
  readonly nodeObject: Settings['nodeObject'];
  readonly clients: readonly string[] | undefined;
  readonly kubeconfig: Pick<SourceOptions, 'kubeconfig'>;
}

/** What is served depends on the machine, and a machine without a Node object serves less. */
async function seenFrom({ node, config: path }: ServicesOptions): Promise<SeenFrom> {
  if (path === undefined) {
    const view = unknownNode(node);
    return { view, nodeObject: 'expected', clients: undefined, kubeconfig: {} };
  }
  const { settings, warnings } = await loadConfig(new Map([['config', [path]]]));
  for (const warning of warnings) printWarning(formatProblem(warning));
  const { nodeName = node, nodeObject } = settings;
  const { kubeconfigPath } = settings.api;
  return {
    view: nodeView({
      settings,
      nodeName,
      node: undefined,
      machineAddresses: [],
      serviceRanges: [],
    }),
    nodeObject,
    clients: settings.clients === 'everybody' ? undefined : settings.clients,
    kubeconfig: kubeconfigPath === undefined ? {} : { kubeconfig: kubeconfigPath },
  };
}

function print(
  observation: Observation,
  how: { wish: Wish; output: Output; clients: SeenFrom['clients'] },
): void {
  const rows = rowsOf(observation.table, how.wish);
  if (rows.length === 0 && how.wish.service !== undefined) {
    throw new CommandError(`there is no Service ${how.wish.service} that a proxy would serve`, {
      code: 'SERVICE_NOT_FOUND',
      next: "without a name, all are listed; headless and ExternalName ones are nobody's to serve",
    });
  }
  printRows(rows, how.output);
  if (how.output !== 'table') return;
  const seen = [viewText(observation.table.view), clientsText(how.clients)].filter(Boolean);
  printNote(`\n${rows.length} ports, ${seen.join('; ')}; -o wide says why`);
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
