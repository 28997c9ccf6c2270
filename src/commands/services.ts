import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { scopeText } from '../agent/scope-report.ts';
import { countText } from '../explain/explain-words.ts';
import { aboutText } from './basis/about.ts';
import { type Basis, findBasis, isPodRangeUnknown } from './basis/basis.ts';
import { type Answer, answerOf, answerOfObserved, observe } from './basis/basis-answer.ts';
import { addBasisOptions, type BasisOptions } from './basis/basis-options.ts';
import type { ObservedNode } from './desired.ts';
import { givenFlags } from './kube-proxy-flags.ts';
import { clientsText, isWanted, parseWish, viewText, type Wish } from './services/select-rows.ts';
import { servicesData } from './services/services-data.ts';
import { servicesTable, servicesWide } from './services/table-view.ts';
import { missingError, unlistedNotes } from './services/unlisted.ts';
import { printData, printJson, printNote, printPage } from './terminal/print.ts';

type Output = 'table' | 'wide' | 'json' | 'yaml';

interface ServicesOptions extends BasisOptions {
  readonly output: Output;
  readonly watch?: true;
}

const MASQUERADING_UNKNOWN = 'masquerading not known without --cluster-cidr or --config';

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
      if (options.watch) await watch(basis, wish, options);
      else await show(basis, wish, options);
    },
  );
}

async function show(basis: Basis, wish: Wish, options: ServicesOptions): Promise<void> {
  const { output } = options;
  const answer = await answerOf(basis, { wish, withCandidates: output !== 'table' });
  await assertFound(answer, { basis, wish, options });
  print(answer, { basis, output });
  if (wish.service !== undefined) return;
  for (const note of await unlistedNotes(basis)) printNote(note);
}

/** The agent has no event stream: changes are read from its cluster. */
async function watch(basis: Basis, wish: Wish, options: ServicesOptions): Promise<void> {
  const apart = basis.by === 'agent' ? basis.apart : basis;
  const from = { ...apart.from, watch: true } as const;
  const observed = await observe({ ...apart, from });
  try {
    const answer = answerOfObserved(observed, { wish });
    await assertFound(answer, { basis: apart, wish, options });
    print(answer, { basis: apart, output: options.output });
    observed.intake.table.takeChanges();
    observed.onChange(() => printChanges(observed, wish));
    await observed.following;
  } finally {
    await observed.stop();
  }
}

async function assertFound(
  { rows }: Answer,
  asked: { basis: Basis; wish: Wish; options: ServicesOptions },
): Promise<void> {
  const { basis, wish, options } = asked;
  if (rows.length > 0 || wish.service === undefined) return;
  throw await missingError(basis, wish, options.context);
}

function print(answer: Answer, how: { basis: Basis; output: Output }): void {
  const { rows, view, facts } = answer;
  const { basis, output } = how;
  const { scope } = basis.config.settings;
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
  const unknown = isPodRangeUnknown(basis, facts) ? MASQUERADING_UNKNOWN : '';
  const clients = clientsText(facts.clientInterfaces);
  const seen = [viewText(view), scoped, clients, unknown].filter(Boolean);
  printNote(`\n${countText(rows.length, 'port')}, ${seen.join('; ')}; -o wide shows why`);
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
