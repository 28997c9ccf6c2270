import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'commander';
import type { Difference } from '../dataplanes/contract.ts';
import { effectiveCapabilities } from '../linux/capabilities.ts';
import { NetlinkError } from '../linux/netlink/errors.ts';
import { modeNamed } from '../modes/registry.ts';
import { aboutText } from './basis/about.ts';
import { answerOf } from './basis/answer.ts';
import { type Basis, findBasis } from './basis/basis.ts';
import { addBasisOptions, type BasisOptions } from './basis/options.ts';
import { CommandError } from './command-error.ts';
import { diffText, diffVerdict } from './diff/text-view.ts';
import { givenFlags } from './kube-proxy-flags.ts';
import { ownNetworkNamespace } from './run/agent-node.ts';
import { printJson, printNote, printPage } from './terminal/print.ts';

interface DiffOptions extends BasisOptions {
  readonly all?: true;
  readonly output: 'text' | 'json';
}

const DIFFERENT = 3;
/**
 * Delay before differences are compared again: a change may be in flight between API and kernel.
 */
const SECOND_LOOK_AFTER_MS = 500;
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
    assertSameNetwork(basis);
    printNote(aboutText(basis.about));
    const differences = await persistent(basis, options);
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

/** The agent's rows apply to its own network namespace only. */
function assertSameNetwork(basis: Basis): void {
  if (basis.by !== 'agent') return;
  const { pid, networkNamespace } = basis.agent;
  const own = ownNetworkNamespace();
  if (own === networkNamespace) return;
  throw new CommandError(
    `the agent (pid ${pid}) serves another network namespace (${networkNamespace}) than that of this command (${own})`,
    {
      code: 'OTHER_NETWORK',
      next: `run \`nsenter -t ${pid} -n fairlead diff\`, or pass --config FILE to compare without the agent`,
    },
  );
}

async function persistent(
  basis: Basis,
  { runFolder }: DiffOptions,
): Promise<readonly Difference[]> {
  const first = await compare(basis, { isRepeated: false, runFolder });
  if (first.length === 0) return [];
  await delay(SECOND_LOOK_AFTER_MS);
  const known = new Set(first.map(idOf));
  return (await compare(basis, { isRepeated: true, runFolder })).filter((difference) =>
    known.has(idOf(difference)),
  );
}

async function compare(
  basis: Basis,
  { isRepeated, runFolder }: { readonly isRepeated: boolean; readonly runFolder: string },
): Promise<readonly Difference[]> {
  const { mode, ebpf } = basis.config.settings;
  const plane = modeNamed(mode).open({ ebpf, runFolder });
  try {
    const { facts, rows } = await answerOf(basis, { isAboutThisMachine: true, isRepeated });
    return await plane.diff({ facts, rows: rows.map(({ forwarding }) => forwarding) });
  } catch (error) {
    throw error instanceof NetlinkError ? unreadable(error, mode) : error;
  }
}

/** The kernel lacks a feature, or a user namespace denies access. */
function unreadable(cause: NetlinkError, mode: string): CommandError {
  return new CommandError(`cannot read the kernel state of mode ${mode}: ${cause.message}`, {
    code: 'KERNEL_UNREADABLE',
    next: 'run the command as root on a kernel that meets the requirements in docs/install.md',
    cause,
  });
}

function idOf({ kind, object }: Difference): string {
  return `${kind} ${object}`;
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
