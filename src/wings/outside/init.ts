import { Command } from 'commander';
import type { ClusterAccess } from '../../cluster/access.ts';
import { Connection } from '../../cluster/api-connection.ts';
import { ClusterError } from '../../cluster/cluster-error.ts';
import { RestClient } from '../../cluster/rest-client.ts';
import { CommandError } from '../../commands/command-error.ts';
import { accessOf, accessWarningText } from '../../commands/open-source.ts';
import { printData, printNote, printWarning } from '../../commands/terminal/print.ts';
import { modeNamed } from '../../modes/mode-registry.ts';
import { type ClusterFacts, missingNamespaces, readClusterFacts } from './cluster-facts.ts';
import { addInitOptions, type InitOptions } from './init-options.ts';
import { makePlan, type Plan } from './init-plan.ts';
import {
  assertServiceRanges,
  hasProgram,
  hiddenProgram,
  hiddenProgramError,
  isLoopbackServer,
  loopbackError,
  missingProgramError,
  planWarnings,
  programOf,
} from './init-preflight.ts';
import { factsTable, fileText, manifestsText } from './init-view.ts';
import { install } from './install.ts';
import { laptopRights } from './laptop-rights.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { THIS_MACHINE } from './paths.ts';

const DEADLINE_MS = 120_000;

/** `fairlead outside init`: sets up this machine from an administrator's kubeconfig. */
export function initCommand(): Command {
  const command = new Command('init').description(
    "set up this machine: from an administrator's kubeconfig, show (or with --apply make) its account with the least rights, a kubeconfig, the configuration and a systemd unit",
  );
  return addInitOptions(command).action(init);
}

async function init(options: InitOptions): Promise<void> {
  const { laptop, namespaces } = options;
  if (laptop !== undefined) {
    printData(manifestsText(laptopRights(laptop, namespaces)).trimEnd());
    return;
  }
  const access = await administrator(options);
  const connection = new Connection({ access, userAgent: 'fairlead' });
  try {
    const client = new RestClient(connection, AbortSignal.timeout(DEADLINE_MS));
    const facts = await readClusterFacts(client);
    const plan = await makePlan({ options, facts, access, program: programOf(options) });
    await assertNamespaces(client, plan);
    const warnings = planWarnings(plan, facts, options);
    if (options.apply) {
      await assertUsable(plan, options);
      for (const warning of warnings) printWarning(warning);
      await oneAtATime(options.root, () => install({ options, plan, client }));
    } else {
      show({ options, plan, facts });
      for (const warning of warnings) printWarning(warning);
      sayNext(options);
    }
  } finally {
    connection.close();
  }
}

async function administrator(options: InitOptions): Promise<ClusterAccess> {
  try {
    const access = await accessOf(options);
    for (const each of await access.warnings(access.server)) printWarning(accessWarningText(each));
    return access;
  } catch (error) {
    if (!(error instanceof ClusterError) || error.code !== 'IN_CLUSTER_MISSING') throw error;
    throw new CommandError('no kubeconfig of an administrator was found', {
      code: 'KUBECONFIG_MISSING',
      next: 'pass --kubeconfig, or set KUBECONFIG (sudo drops it: sudo KUBECONFIG=$KUBECONFIG fairlead …)',
      cause: error,
    });
  }
}

async function assertNamespaces(client: RestClient, plan: Plan): Promise<void> {
  const used = plan.manifests.flatMap(({ metadata: { namespace } }) => namespace ?? []);
  const missing = await missingNamespaces(client, used);
  if (missing.length === 0) return;
  throw new CommandError(`the cluster has no namespace ${missing.join(', ')}`, {
    code: 'NAMESPACE_MISSING',
    next: 'correct the name, or create it first: a Role belongs to its namespace; nothing was changed',
  });
}

/** What would be written could not work. */
async function assertUsable(plan: Plan, options: InitOptions): Promise<void> {
  const isHere = options.root === THIS_MACHINE;
  assertServiceRanges(plan);
  if (!isHere && isLoopbackServer(plan.server)) throw loopbackError(plan.server);
  const hidden = isHere ? hiddenProgram(programOf(options)) : undefined;
  if (hidden !== undefined) throw hiddenProgramError(hidden);
  const { programs = [] } = (await modeNamed(options.mode)).service;
  if (isHere && !hasProgram(programs)) throw missingProgramError(options.mode, programs);
  if (isHere && process.geteuid?.() !== 0) {
    throw new CommandError('only root can set up this machine', {
      code: 'NOT_ROOT',
      next: 'run it with sudo, and --kubeconfig; or --root FOLDER for another machine; nothing was changed',
    });
  }
}

interface Shown {
  readonly options: InitOptions;
  readonly plan: Plan;
  readonly facts: ClusterFacts;
}

/** Objects for the cluster go to standard output, all else to standard error: the first can be piped to kubectl. */
function show({ options, plan, facts }: Shown): void {
  printNote(`Nothing was changed. With --apply, this sets up Fairlead on ${options.name}:\n`);
  printNote(factsTable(plan, facts, options));
  printNote('\n# For the cluster alone: `fairlead outside init | kubectl apply -f -`');
  printData(manifestsText(plan.manifests).trimEnd());
  for (const file of plan.files) printNote(fileText(file, process.stderr.isTTY));
  printNote('');
}

function sayNext(options: InitOptions): void {
  const { root } = options;
  const where = root === THIS_MACHINE ? 'on this machine, as root' : `below ${root}`;
  printNote(`next: the same command with --apply (${where})`);
}
