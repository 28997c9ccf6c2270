import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { scopeText } from '../agent/scope-report.ts';
import { aboutText } from './basis/about.ts';
import { type Basis, findBasis } from './basis/basis.ts';
import { type Answer, answerOf, answerOfObserved, observe } from './basis/basis-answer.ts';
import { addBasisOptions, type BasisOptions } from './basis/basis-options.ts';
import { CommandError } from './command-error.ts';
import type { ObservedNode } from './desired.ts';
import { givenFlags } from './kube-proxy-flags.ts';
import { clientsText, isWanted, parseWish, viewText, type Wish } from './services/select-rows.ts';
import { servicesData } from './services/services-data.ts';
import { servicesTable, servicesWide } from './services/table-view.ts';
import { printData, printJson, printNote, printPage } from './terminal/print.ts';

type Output = 'table' | 'wide' | 'json' | 'yaml';

interface ServicesOptions extends BasisOptions {
  readonly output: Output;
  readonly watch?: true;
}

/** `fairlead services`: how a node handles each Service, and why. */
export function servicesCommand(): Command {
  const command = new Command('services')
    .description(
      'show how a node handles each Service: this node by its agent, or any node of a cluster or of manifests',
    )
    .argument('[service]', 'namespace/name, or namespace/name:port; default: all')
    .option('--watch', 'keep running, and print changes')
    .addOption(
      new Option('-o, --output <form>', 'table or wide for people, json or yaml for programs')
        .choices(['table', 'wide', 'json', 'yaml'])
        .default('table'),
    );
  return addBasisOptions(command).action(
    async (service: string | undefined, options: ServicesOptions) => {
      const basis = await findBasis({ flags: givenFlags(command), options });
      const wish = parseWish(service);
      if (options.watch) await watch(basis, wish, options.output);
      else await show(basis, wish, options.output);
    },
  );
}

async function show(basis: Basis, wish: Wish, output: Output): Promise<void> {
  const question = { wish, withCandidates: output !== 'table' };
  print(await answerOf(basis, question), { basis, wish, output });
}

/** The agent has no event stream: changes are read from its cluster. */
async function watch(basis: Basis, wish: Wish, output: Output): Promise<void> {
  const apart = basis.by === 'agent' ? basis.apart : basis;
  const from = { ...apart.from, watch: true } as const;
  const observed = await observe({ ...apart, from });
  try {
    print(answerOfObserved(observed, { wish }), { basis: apart, wish, output });
    observed.intake.table.takeChanges();
    observed.onChange(() => printChanges(observed, wish));
    await observed.following;
  } finally {
    await observed.stop();
  }
}

function print(answer: Answer, how: { basis: Basis; wish: Wish; output: Output }): void {
  const { rows, view, facts } = answer;
  const { basis, wish, output } = how;
  const { scope } = basis.config.settings;
  if (rows.length === 0 && wish.service !== undefined) {
    const outside = scope === undefined ? '' : ', is outside of fairlead.scope';
    const message = `Service ${wish.service} does not exist${outside}, or proxies do not serve it`;
    throw new CommandError(message, {
      code: 'SERVICE_NOT_FOUND',
      next: 'run `fairlead services` to list all; proxies do not serve headless and ExternalName Services',
    });
  }
  printNote(aboutText(basis.about));
  if (output === 'json') printJson(servicesData(rows, { from: basis.about, facts }));
  else if (output === 'yaml') {
    // YAML aliases would be hard to read for programs.
    const text = stringify(servicesData(rows, { from: basis.about, facts }), {
      aliasDuplicateObjects: false,
    });
    printData(text.trimEnd());
  } else printPage(output === 'wide' ? servicesWide(rows, facts) : servicesTable(rows, facts));
  if (output !== 'table') return;
  const scoped = scope === undefined ? '' : `scope: ${scopeText(scope)}`;
  const seen = [viewText(view), scoped, clientsText(facts.clientInterfaces)].filter(Boolean);
  printNote(`\n${rows.length} ports, ${seen.join('; ')}; -o wide shows why`);
}

function printChanges({ intake: { table, facts } }: ObservedNode, wish: Wish): void {
  const at = new Date().toISOString();
  for (const { key, before, after } of table.takeChanges()) {
    if (!isWanted(wish, after ?? before)) continue;
    const text = after
      ? servicesTable([{ forwarding: after, candidates: [] }], facts)
      : `${key} was deleted`;
    printPage(`\n${at}\n${text}`);
  }
}
