import { ClusterError } from '../../cluster/cluster-error.ts';
import { recordAt } from '../../cluster/json.ts';
import type { RestClient } from '../../cluster/rest-client.ts';
import { countText } from '../../commands/status/status-texts.ts';
import { printNote, printPage, printWarning } from '../../commands/terminal/print.ts';
import { systemClock } from '../../time/clock.ts';
import { applyObjects, assertApplicable, type DoneObject, objectText } from './apply-objects.ts';
import { clusterId } from './cluster-id.ts';
import { DNS_LINK } from './dns/dns-plan.ts';
import type { InitOptions } from './init-options.ts';
import type { Plan } from './init-plan.ts';
import { countsText, doneTable } from './init-view.ts';
import { assertOwnFiles, type DoneFile, installFile, makeFolders } from './install-files.ts';
import { deletionCommands } from './off-view.ts';
import { below, CONFIG_FILE, THIS_MACHINE, TOKEN_FILE, UNIT_NAME } from './paths.ts';
import { addToRecord, readRecord } from './record.ts';
import { type ServiceManager, serviceManagerOf } from './service-manager.ts';
import { isRenewalDue, tokenClaims } from './token-claims.ts';
import { dateText } from './token-dates.ts';
import { requestToken } from './token-renewal.ts';
import { statusOrNothing, untilReady } from './wait-ready.ts';
import { SECRET_FILE_MODE, textOf } from './write-files.ts';

export interface Installation {
  readonly options: InitOptions;
  readonly plan: Plan;
  /** Of the administrator. */
  readonly client: RestClient;
}

const READY_DEADLINE_MS = 60_000;
const HTTP_FORBIDDEN = 403;

/** Makes what the plan has, each thing after it was recorded; again, only what differs. */
export async function install(installation: Installation): Promise<void> {
  const { options, plan, client } = installation;
  const { root } = options;
  const token = { path: TOKEN_FILE, text: '', mode: SECRET_FILE_MODE };
  if (!options.force) await assertOwnFiles(root, [...plan.files, token]);
  await assertApplicable(plan.manifests, client);
  await makeFolders(
    root,
    [...plan.files, token].map(({ path }) => path),
  );
  const cluster = await clusterId(client);
  await warnOfOtherCluster(root, cluster);
  progress('creating the account in the cluster');
  const objects = await applyObjects(plan.manifests, {
    client,
    root,
    server: plan.server,
    cluster,
  });
  warnOfFound(objects);
  const given = await tokenFor(installation);
  const files = [
    // The token first: a client that reads the kubeconfig needs it.
    await installFile(root, { ...token, text: `${given}\n` }, { path: TOKEN_FILE, sha256: [] }),
  ];
  await addToRecord(root, { units: [UNIT_NAME] });
  for (const file of plan.files) files.push(await installFile(root, file));
  const done = [...objects, ...files];
  const manager = serviceManagerOf(root);
  const headline =
    manager === undefined
      ? `Fairlead is set up for ${options.name}, and not started: ${countsText(done)}`
      : await start(manager, { options, done });
  printPage(`${headline}\n\n${doneTable(objects, files)}\n\n${endText(given, options)}`);
  const hasLink = (await readRecord(root)).links.includes(DNS_LINK);
  printPage(`next: ${nextText(installation, { manager, hasLink })}`);
}

/** The token of the file, if it is of this account, young, and the API server accepts it. */
async function tokenFor({ options, plan, client }: Installation): Promise<string> {
  const held = (await textOf(below(options.root, TOKEN_FILE)))?.trim() ?? '';
  const claims = tokenClaims(held);
  const isOfAccount =
    claims?.account.name === plan.account.name &&
    claims.account.namespace === plan.account.namespace;
  const lifeMs = claims === undefined ? 0 : claims.expiresAtMs - claims.issuedAtMs;
  const isAsWanted = lifeMs === options.tokenLifetime * 1000;
  if (claims !== undefined && isOfAccount && isAsWanted) {
    const isYoung = !isRenewalDue(claims, systemClock.wallMs());
    if (isYoung && (await isAccepted(client, held))) return held;
  }
  progress('requesting a token');
  const { account } = plan;
  return await requestToken(client, { account, lifetimeSeconds: options.tokenLifetime });
}

/** False also for a user who may not ask that: a new token is no harm. */
async function isAccepted(client: RestClient, token: string): Promise<boolean> {
  try {
    const review = await client.create('/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token },
    });
    return recordAt(review, 'status')['authenticated'] === true;
  } catch (error) {
    if (error instanceof ClusterError && error.status === HTTP_FORBIDDEN) return false;
    throw error;
  }
}

/** The first line of the answer. */
async function start(
  manager: ServiceManager,
  { options, done }: { options: InitOptions; done: readonly (DoneObject | DoneFile)[] },
): Promise<string> {
  const beganAtMs = systemClock.monotonicMs();
  await manager.reload();
  await manager.enable(UNIT_NAME);
  const before = await statusOrNothing();
  const isSame = done.every((each) => each.done === 'unchanged');
  const isRunning = before !== undefined && (await manager.isActive(UNIT_NAME));
  if (!isRunning) await manager.start(UNIT_NAME);
  else if (!isSame) await manager.restart(UNIT_NAME);
  const notStartedAtMs = isSame ? undefined : before?.startedAtMs;
  const page = await untilReady(
    { clock: systemClock, deadlineMs: READY_DEADLINE_MS, notStartedAtMs, onProgress: progress },
    new AbortController().signal,
  );
  const seconds = ((systemClock.monotonicMs() - beganAtMs) / 1000).toFixed(1);
  const kernel = `${countText(page.contents?.services ?? page.rows.applied, 'Service')} in the kernel`;
  if (isRunning && isSame) return `Nothing to do: Fairlead is ready on ${options.name}, ${kernel}`;
  return `Fairlead is ready on ${options.name}: ${kernel} after ${seconds} s`;
}

/** The record has the objects of one cluster: those of another are named before they are forgotten. */
async function warnOfOtherCluster(root: string, cluster: string): Promise<void> {
  const before = await readRecord(root);
  if (before.cluster === cluster || before.objects.length === 0) return;
  printWarning(
    `this machine was set up for another cluster (${before.server}); an administrator deletes its account there by: ${deletionCommands(before.objects).replaceAll('\n', ' && ')}`,
  );
}

function warnOfFound(objects: readonly DoneObject[]): void {
  const found = objects.find(({ isFound, object }) => isFound && object.kind === 'ServiceAccount');
  if (found === undefined) return;
  printWarning(
    `${objectText(found.object)} existed already, which is fine if it is of an earlier set-up of this machine; if another machine uses it, run \`fairlead outside off\` here and choose another --name`,
  );
}

function endText(token: string, { renewal }: InitOptions): string {
  const claims = tokenClaims(token);
  if (claims === undefined) return 'the token does not say when it ends';
  const end = `the token ends ${dateText(claims.expiresAtMs)}`;
  if (renewal) return `${end}; the machine renews it long before`;
  return `${end} and is not renewed: run this again before`;
}

function nextText(
  { options: { root, name }, plan: { hasNames } }: Installation,
  { manager, hasLink }: { manager: ServiceManager | undefined; hasLink: boolean },
): string {
  if (manager !== undefined) {
    return hasNames && !hasLink ? 'fairlead outside dns apply' : 'fairlead outside check';
  }
  if (root !== THIS_MACHINE) {
    const start = `ssh root@${name} systemctl enable --now ${UNIT_NAME}`;
    return `copy the files, and start it there\n  ${copyCommand(root, name)}\n  ${start}`;
  }
  return `fairlead run --config ${CONFIG_FILE} (systemd does not run here)`;
}

function progress(text: string): void {
  if (process.stderr.isTTY) printNote(`… ${text}`);
}

/**
 * Copies what is below a folder to a machine. Its files belong to root there, whichever user made them here:
 * the user who owned them could replace the unit and the credential plugin, which root starts. Folders
 * that the machine has keep their owner and mode.
 */
export function copyCommand(root: string, to: string): string {
  return `${packCommand(root)} | ssh root@${to} ${unpackCommand('/')}`;
}

export function packCommand(root: string): string {
  return `tar -C ${word(root)} --owner=0 --group=0 -c .`;
}

export function unpackCommand(root: string): string {
  return `tar -C ${word(root)} --no-overwrite-dir -xp`;
}

function word(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
