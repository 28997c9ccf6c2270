import { Command, Option } from 'commander';
import { MODE_NAMES, type ModeName } from '../config/modes.ts';
import { FAMILIES, type Family, type Forwarding } from '../forwarding/model.ts';
import { modeNamed } from '../modes/mode-registry.ts';
import { aboutText } from './basis/about.ts';
import { type Basis, findBasis } from './basis/basis.ts';
import { answerOf } from './basis/basis-answer.ts';
import { addBasisOptions, type BasisOptions } from './basis/basis-options.ts';
import { CommandError } from './command-error.ts';
import { givenFlags } from './kube-proxy-flags.ts';
import { renderData } from './render/render-json.ts';
import { renderText } from './render/render-text.ts';
import { isWanted, parseWish } from './services/select-rows.ts';
import { printData, printJson, printNote, printPage } from './terminal/print.ts';

/** As `nft` names them. */
const FAMILY_NAMED: Readonly<Record<'ip' | 'ip6', Family>> = { ip: 'IPv4', ip6: 'IPv6' };

interface RenderOptions extends BasisOptions {
  readonly mode?: ModeName;
  readonly family?: keyof typeof FAMILY_NAMED;
  readonly raw?: true;
  readonly output: 'text' | 'json';
}

/** `fairlead render`: what would be written to a node's kernel, without writing it. */
export function renderCommand(): Command {
  const command = new Command('render')
    .description('print the kernel objects of a node for each Service, and what each does')
    .argument('[service]', 'namespace/name, or namespace/name:port; default: all')
    .option(
      '--raw',
      'print what `nft list table` would print, input for iptables-restore, or ipvsadm commands',
    )
    .addOption(
      new Option(
        '--mode <mode>',
        'use this mode instead of that of the agent or configuration',
      ).choices(MODE_NAMES),
    )
    .addOption(new Option('--family <family>', 'only one of the two tables').choices(['ip', 'ip6']))
    .addOption(
      new Option('-o, --output <form>', 'text for people, json for programs')
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

async function render(
  basis: Basis,
  service: string | undefined,
  options: RenderOptions,
): Promise<void> {
  const { settings } = basis.config;
  const mode = await modeNamed(settings.mode);
  // All rows: some of the numbers in a table depend on the others.
  const answer = await answerOf(basis);
  const { facts } = answer;
  const rows = answer.rows.map(({ forwarding }) => forwarding);
  const wish = parseWish(service);
  const families = options.family ? [FAMILY_NAMED[options.family]] : FAMILIES;
  const isShown = (row: Forwarding): boolean =>
    isWanted(wish, row) && families.includes(row.id.family);
  if (service !== undefined && !rows.some(isShown)) {
    throw new CommandError(`Service ${wish.service} does not exist, or proxies do not serve it`, {
      code: 'SERVICE_NOT_FOUND',
      next: 'run `fairlead services` with the same options to list all',
    });
  }
  printNote(aboutText(basis.about));
  if (options.raw) {
    const desired = { facts, rows: rows.filter(isShown) };
    const tables = families.map((family) => mode.raw(desired, family, settings));
    printData(tables.join('').trimEnd());
  } else {
    const pages = mode.pages({ facts, rows }, isShown, settings);
    if (options.output === 'json') printJson(renderData(pages, { from: basis.about, facts }));
    else printPage(renderText(pages));
  }
}
