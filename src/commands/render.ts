import { Command, Option } from 'commander';
import type { Mode } from '../config/modes.ts';
import type { NodeFacts } from '../dataplanes/contract.ts';
import { renderedTables, restoreText, USUAL_ABILITIES } from '../dataplanes/iptables/render.ts';
import { FAMILY_OF_TABLE, TABLE_FAMILIES } from '../dataplanes/nftables/chains.ts';
import { renderTable } from '../dataplanes/nftables/render.ts';
import { tableContent } from '../dataplanes/nftables/table-content.ts';
import type { Forwarding } from '../forwarding/model.ts';
import type { TableFamily } from '../linux/nftables/protocol.ts';
import { aboutText } from './basis/about.ts';
import { answerOf } from './basis/answer.ts';
import { type Basis, findBasis } from './basis/basis.ts';
import { addBasisOptions, type BasisOptions } from './basis/options.ts';
import { CommandError } from './command-error.ts';
import { givenFlags } from './kube-proxy-flags.ts';
import { renderData } from './render/data-view.ts';
import { EBPF_MODES, packetPagesOf, rawEntries, socketPagesOf } from './render/hook-page.ts';
import { iptablesPagesOf } from './render/iptables-page.ts';
import { pagesOf } from './render/page.ts';
import { renderText } from './render/text-view.ts';
import { partsOfMode } from './run/plane.ts';
import { isWanted, parseWish } from './services/rows.ts';
import { printData, printJson, printNote, printPage } from './terminal/print.ts';

const MODES = ['nftables', 'iptables', ...EBPF_MODES] as const;

type RenderedMode = (typeof MODES)[number];

interface RenderOptions extends BasisOptions {
  readonly mode?: RenderedMode;
  readonly family?: TableFamily;
  readonly raw?: true;
  readonly output: 'text' | 'json';
}

/** `fairlead render`: what a node's kernel would be given, without giving it. */
export function renderCommand(): Command {
  const command = new Command('render')
    .description('print what the kernel of a node is given for each Service, and what it does')
    .argument('[service]', 'namespace/name, or namespace/name:port; all when not given')
    .option('--raw', 'exactly what `nft list table` would print, or input for iptables-restore')
    .addOption(
      new Option('--mode <mode>', 'another mode than that of the agent or configuration').choices(
        MODES,
      ),
    )
    .addOption(new Option('--family <family>', 'one of the two tables').choices(['ip', 'ip6']))
    .addOption(
      new Option('-o, --output <form>', 'for a person, or for a program')
        .choices(['text', 'json'])
        .default('text'),
    );
  return addBasisOptions(command).action(
    async (service: string | undefined, options: RenderOptions) => {
      const { mode } = options;
      const flags = givenFlags(command);
      const basis = await findBasis({ flags, options, ...(mode ? { mode } : {}) });
      await render(basis, service, options);
    },
  );
}

function renderedMode(mode: Mode): RenderedMode {
  const found = MODES.find((each) => each === mode);
  if (found !== undefined) return found;
  // Says which modes there are.
  partsOfMode(mode);
  throw new TypeError(`mode ${mode} cannot be rendered`);
}

async function render(
  basis: Basis,
  service: string | undefined,
  options: RenderOptions,
): Promise<void> {
  const mode = renderedMode(basis.config.settings.mode);
  // All rows: some of the numbers in a table depend on the others.
  const answer = await answerOf(basis);
  const { facts } = answer;
  const rows = answer.rows.map(({ forwarding }) => forwarding);
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
  printNote(aboutText(basis.about));
  if (options.raw) {
    const desired = { facts, rows: rows.filter(isShown) };
    const tables = families.map((family) => rawTables(desired, family, mode));
    printData(tables.join('').trimEnd());
  } else {
    const pages = PAGES[mode]({ facts, rows }, isShown);
    if (options.output === 'json') printJson(renderData(pages, { from: basis.about, facts }));
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
  mode: RenderedMode,
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
