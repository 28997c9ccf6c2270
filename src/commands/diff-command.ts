import { Command, Option } from 'commander';
import type { Difference } from '../dataplanes/contract.ts';
import { effectiveCapabilities } from '../linux/capabilities.ts';
import { aboutText } from './basis/about.ts';
import { type Basis, findBasis } from './basis/basis.ts';
import { addBasisOptions, type BasisOptions } from './basis/basis-options.ts';
import { CommandError } from './command-error.ts';
import { diffText, diffVerdict } from './diff/diff-text.ts';
import { assertSameNetwork, persistentDifferences } from './diff/persistent-differences.ts';
import { givenFlags } from './kube-proxy-flags.ts';
import { printJson, printNote, printPage } from './terminal/print.ts';

interface DiffOptions extends BasisOptions {
  readonly all?: true;
  readonly output: 'text' | 'json';
}

const DIFFERENT = 3;
const COMMAND = { name: 'diff', orElse: ', or pass --config FILE to compare without the agent' };
/** Differences shown by default; the count includes all. */
const MOST_LISTED = 100;

/** `fairlead diff`: compares the desired state with the kernel. */
export function diffCommand(): Command {
  const command = new Command('diff')
    .description(
      `compare the desired state of this node with the kernel; exit code ${DIFFERENT} if they differ`,
    )
    .option('--all', `list all differences, not only the first ${MOST_LISTED}`)
    .addOption(new Option('-o, --output <form>').choices(['text', 'json']).default('text'));
  return addBasisOptions(command).action(async (options: DiffOptions) => {
    assertMayRead();
    const basis = await findBasis({ flags: givenFlags(command), options });
    if (basis.by === 'agent') assertSameNetwork(basis.agent, COMMAND);
    printNote(aboutText(basis.about));
    const differences = await persistentDifferences(basis, options);
    print(differences, basis, options);
    // program.ts sets the exit code only on failure.
    if (differences.length > 0) process.exitCode = DIFFERENT;
  });
}

/** Without CAP_NET_ADMIN the kernel lists no tables. */
function assertMayRead(held = effectiveCapabilities()): void {
  if (held.has('NET_ADMIN')) return;
  throw new CommandError('cannot read rules: this process lacks CAP_NET_ADMIN', {
    code: 'NOT_PERMITTED',
    next: 'run the command as root, or in the pod of the agent: kubectl exec … -- fairlead diff',
  });
}

function print(differences: readonly Difference[], basis: Basis, options: DiffOptions): void {
  if (options.output === 'json') {
    printJson(differences.map((difference) => ({ ...difference, from: basis.about })));
    return;
  }
  const shown = options.all ? differences : differences.slice(0, MOST_LISTED);
  if (shown.length > 0) printPage(diffText(shown));
  const more = differences.length - shown.length;
  if (more > 0) printNote(`and ${more} more; --all lists them`);
  printNote(diffVerdict(differences));
}
