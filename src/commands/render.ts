import { Command, Option } from 'commander';
import type { MachineAddresses } from '../agent/machine-addresses.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import type { NodeFacts } from '../dataplanes/contract.ts';
import { renderedTables, restoreText, USUAL_ABILITIES } from '../dataplanes/iptables/render.ts';
import { FAMILY_OF_TABLE, TABLE_FAMILIES } from '../dataplanes/nftables/chains.ts';
import { renderTable } from '../dataplanes/nftables/render.ts';
import { tableContent } from '../dataplanes/nftables/table-content.ts';
import type { Forwarding } from '../forwarding/model.ts';
import type { TableFamily } from '../linux/nftables/protocol.ts';
import { CommandError } from './command-error.ts';
import { nodeNameOf, readDesired } from './desired.ts';
import { addKubeProxyFlags, givenFlags } from './kube-proxy-flags.ts';
import { renderData } from './render/data-view.ts';
import { EBPF_MODES, packetPagesOf, rawEntries, socketPagesOf } from './render/hook-page.ts';
import { iptablesPagesOf } from './render/iptables-page.ts';
import { pagesOf } from './render/page.ts';
import { renderText } from './render/text-view.ts';
import { isWanted, parseWish } from './services/rows.ts';
import type { SourceOptions } from './source.ts';
import { printData, printJson, printPage, printWarning } from './terminal/print.ts';

const MODES = ['nftables', 'iptables', ...EBPF_MODES] as const;

interface RenderOptions {
  readonly filename?: readonly string[];
  readonly node?: string;
  readonly mode: (typeof MODES)[number];
  readonly family?: TableFamily;
  readonly raw?: true;
  readonly output: 'text' | 'json';
}

/** `fairlead render`: what a node's kernel would be given, without giving it. */
export function renderCommand(): Command {
  const command = new Command('render')
    .description('print what the kernel of a node is given for each Service, and what it does')
    .argument('[service]', 'namespace/name, or namespace/name:port; all when not given')
    .option('-f, --filename <paths...>', 'manifests: files, folders, or - for standard input')
    .option('--node <name>', 'the node to see with; else the one of the configuration')
    .option('--raw', 'exactly what `nft list table` would print, or input for iptables-restore')
    .addOption(new Option('--mode <mode>', 'which data plane').choices(MODES).default('nftables'))
    .addOption(new Option('--family <family>', 'one of the two tables').choices(['ip', 'ip6']))
    .addOption(
      new Option('-o, --output <form>', 'for a person, or for a program')
        .choices(['text', 'json'])
        .default('text'),
    );
  return addKubeProxyFlags(command).action(
    async (service: string | undefined, options: RenderOptions) => {
      const flags = new Map(givenFlags(command));
      // Some fields have a value for each mode; which one counts the mode decides.
      if (!flags.has('proxy-mode')) flags.set('proxy-mode', [options.mode]);
      const config = await loadConfig(flags);
      for (const warning of config.warnings) printWarning(formatProblem(warning));
      await render(seenFrom(config, options.node), service, options);
    },
  );
}

function seenFrom(config: LoadedConfig, nodeName: string | undefined): LoadedConfig {
  if (nodeName === undefined) return config;
  return { ...config, settings: { ...config.settings, nodeName } };
}

async function render(
  config: LoadedConfig,
  service: string | undefined,
  options: RenderOptions,
): Promise<void> {
  const { facts, rows } = await readNode(config, options);
  const wish = parseWish(service);
  const families = options.family ? [options.family] : TABLE_FAMILIES;
  const isShown = (row: Forwarding): boolean =>
    isWanted(wish, row) && families.some((family) => FAMILY_OF_TABLE[family] === row.id.family);
  if (service !== undefined && !rows.some(isShown)) {
    throw new CommandError(`there is no Service ${wish.service} that a proxy would serve`, {
      code: 'SERVICE_NOT_FOUND',
      next: '`fairlead services` with the same options lists all',
    });
  }
  if (options.raw) {
    const desired = { facts, rows: rows.filter(isShown) };
    const tables = families.map((family) => rawTables(desired, family, options.mode));
    printData(tables.join('').trimEnd());
  } else {
    const pages = PAGES[options.mode]({ facts, rows }, isShown);
    if (options.output === 'json') printJson(renderData(pages));
    else printPage(renderText(pages));
  }
}

const PAGES = {
  nftables: pagesOf,
  iptables: iptablesPagesOf,
  'socket-ebpf': socketPagesOf,
  'tc-ebpf': packetPagesOf,
} as const;

function rawTables(
  desired: { facts: NodeFacts; rows: readonly Forwarding[] },
  family: TableFamily,
  mode: RenderOptions['mode'],
): string {
  if (mode === 'nftables') return renderTable(tableContent(desired, family));
  if (mode !== 'iptables') {
    const rows = desired.rows.filter(({ id }) => id.family === FAMILY_OF_TABLE[family]);
    return rawEntries(mode, { ...desired, rows }) + renderTable(tableContent(desired, family));
  }
  const setting = { facts: desired.facts, abilities: USUAL_ABILITIES };
  const tables = renderedTables(desired.rows, setting, FAMILY_OF_TABLE[family]);
  return `# for ${family === 'ip' ? 'iptables' : 'ip6tables'}-restore --noflush\n${restoreText(tables)}`;
}

/** What the node should do. Of its machine only what the Node object says is known here. */
async function readNode(
  config: LoadedConfig,
  { filename }: RenderOptions,
): Promise<{ facts: NodeFacts; rows: readonly Forwarding[] }> {
  const { kubeconfigPath, serverUrl } = config.settings.api;
  const from: SourceOptions = {
    ...(filename ? { filename } : {}),
    ...(kubeconfigPath === undefined ? {} : { kubeconfig: kubeconfigPath }),
    ...(serverUrl === undefined ? {} : { serverUrl }),
  };
  const { intake } = await readDesired(config, from, { addresses: NO_ADDRESSES });
  if (intake.node.state !== 'unknown') {
    intake.takeMachineAddresses(intake.node.object.addresses);
  } else if (config.settings.nodeObject === 'expected') {
    printWarning(`there is no Node ${nodeNameOf(config)}; its addresses are not known`);
  }
  const { table, facts } = intake;
  return { facts, rows: table.serviceNames().flatMap((name) => table.ofService(name)) };
}

const NO_ADDRESSES: MachineAddresses = {
  run: async (onChange) => onChange([]),
};
