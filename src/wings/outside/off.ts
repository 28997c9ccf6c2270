import { Command } from 'commander';
import { Connection } from '../../cluster/api-connection.ts';
import { RestClient } from '../../cluster/rest-client.ts';
import { CommandError } from '../../commands/command-error.ts';
import { accessOf } from '../../commands/open-source.ts';
import { printNote, printPage, printWarning } from '../../commands/terminal/print.ts';
import { deleteObjects } from './apply-objects.ts';
import { clusterId } from './cluster-id.ts';
import { rootOption } from './init-options.ts';
import { OUTSIDE_LABELS } from './machine-rights.ts';
import { assertStopped, errorText, offSteps } from './off-steps.ts';
import { deletionCommands, offPage, unknownAccountText } from './off-view.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { THIS_MACHINE } from './paths.ts';
import { type OutsideRecord, readRecord } from './record.ts';
import { removeFolders, removeRecord } from './remove-files.ts';
import { serviceManagerOf } from './service-manager.ts';

interface OffOptions {
  readonly cluster?: true;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly root: string;
  readonly force?: true;
}

const DEADLINE_MS = 60_000;

/** `fairlead outside off`: removes from the machine what `fairlead outside` made. */
export function offCommand(): Command {
  return new Command('off')
    .description(
      'undo `fairlead outside`: stop the service, remove rules, links, DNS settings and files from this machine; with --cluster also its account',
    )
    .option('--cluster', 'also delete its objects in the cluster, as an administrator')
    .option('--kubeconfig <path>', 'of an administrator; default: $KUBECONFIG, ~/.kube/config')
    .option('--context <name>', 'use this context of the kubeconfig instead of the current one')
    .addOption(rootOption('remove files below this folder, and stop nothing'))
    .option('--force', 'also remove files that were changed since fairlead wrote them')
    .action((options: OffOptions) => oneAtATime(options.root, () => off(options)));
}

/** Every step is tried. What fails stays in the record, so that the command can be repeated. */
async function off(options: OffOptions): Promise<void> {
  const { root } = options;
  const record = await readRecord(root);
  if (isEmpty(record)) {
    printPage('Nothing to do: nothing made by `fairlead outside` is left here');
    if (options.cluster) printPage(`\n${unknownAccountText(OUTSIDE_LABELS)}`);
    return;
  }
  assertAllowed(options);
  const done: string[] = [];
  const failures: unknown[] = [];
  const kept: string[] = [];
  for (const { what, work } of offSteps({ root, record, force: options.force === true, kept })) {
    await attempt({ what, work, done, failures });
  }
  if (options.cluster) {
    const work = async () => await deleteFromCluster(record, options);
    await attempt({ what: 'the cluster', work, done, failures });
  }
  if (failures.length > 0) throw incomplete(done, failures);
  await removeRecord(root);
  await removeFolders(root, record.folders);
  printPage(offPage({ done, kept, isHere: root === THIS_MACHINE }));
  if (!options.cluster && record.objects.length > 0) {
    printNote('\nits account in the cluster remains; an administrator deletes it by');
    printPage(deletionCommands(record.objects));
  }
}

interface Attempt {
  readonly what: string;
  readonly work: () => Promise<readonly string[]>;
  readonly done: string[];
  readonly failures: unknown[];
}

async function attempt({ what, work, done, failures }: Attempt): Promise<void> {
  try {
    done.push(...(await work()));
  } catch (error) {
    failures.push(error);
    printWarning(`${what}: ${errorText(error)}`);
  }
}

function isEmpty({ files, folders, units, links, objects }: OutsideRecord): boolean {
  return [files, folders, units, links, objects].every((list) => list.length === 0);
}

function assertAllowed({ root }: OffOptions): void {
  if (root !== THIS_MACHINE) return;
  if (process.geteuid?.() === 0) {
    if (serviceManagerOf(root) === undefined) assertStopped();
    return;
  }
  throw new CommandError('only root can remove Fairlead from this machine', {
    code: 'NOT_ROOT',
    next: 'run it with sudo; nothing was changed',
  });
}

async function deleteFromCluster(
  record: OutsideRecord,
  options: OffOptions,
): Promise<readonly string[]> {
  if (record.objects.length === 0) return [];
  const access = await accessOf(options);
  const connection = new Connection({ access, userAgent: 'fairlead' });
  try {
    const client = new RestClient(connection, AbortSignal.timeout(DEADLINE_MS));
    await assertSameCluster(record, { client, host: access.server.host });
    const deleted = await deleteObjects(record.objects, { client, root: options.root });
    return [`${deleted.length} objects deleted from ${access.server.host}`];
  } finally {
    connection.close();
  }
}

/** Another cluster may have objects of the same names, for another machine. */
async function assertSameCluster(
  { cluster, server }: OutsideRecord,
  { client, host }: { readonly client: RestClient; readonly host: string },
): Promise<void> {
  if ((await clusterId(client)) === cluster) return;
  throw new CommandError(`${host} is not the cluster that this machine was set up for`, {
    code: 'OTHER_CLUSTER',
    next: `pass --kubeconfig or --context of the cluster whose API server is ${server}; nothing was deleted from ${host}`,
  });
}

function incomplete(done: readonly string[], failures: readonly unknown[]): CommandError {
  const so = done.length === 0 ? '' : ` (done: ${done.join('; ')})`;
  return new CommandError(`Fairlead is not removed completely${so}`, {
    code: 'OFF_INCOMPLETE',
    next: 'fix the problems in the warnings above, and run the command again',
    cause: new AggregateError(failures),
  });
}
