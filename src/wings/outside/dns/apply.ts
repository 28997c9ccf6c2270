import { CommandError } from '../../../commands/command-error.ts';
import { assertOwnFiles, installFile, makeFolders } from '../install-files.ts';
import { THIS_MACHINE } from '../paths.ts';
import { addToRecord, readRecord } from '../record.ts';
import { serviceManagerOf } from '../service-manager.ts';
import { unitWord } from '../unit-text.ts';
import { PUBLIC_FILE_MODE } from '../write-files.ts';
import { byHand } from './by-hand.ts';
import { hasLink, raiseLink } from './dns-link.ts';
import { DNS_LINK, DNS_UNIT_FILE, DNS_UNIT_NAME, type DnsPlan } from './dns-plan.ts';
import { configureLink, listScopes, type Scope } from './resolvectl.ts';
import { readResolver } from './resolver.ts';
import { undoDns } from './undo.ts';
import { type Answer, askServers, type Verdict, verify } from './verify.ts';

export interface Applied {
  /** The servers in use: those that answered, or all if none did. */
  readonly plan: DnsPlan;
  readonly silent: readonly string[];
  /** Undefined: the files are for another machine. */
  readonly verdict: Verdict | undefined;
  /** What systemd-resolved has for other names. */
  readonly others: readonly Scope[];
}

export interface ApplyInput {
  readonly plan: DnsPlan;
  readonly root: string;
  /** The command that starts Fairlead. */
  readonly program: readonly string[];
}

export async function applyDns(input: ApplyInput): Promise<Applied> {
  const { plan, root } = input;
  const resolver = await readResolver(root);
  const advice = byHand(resolver, plan);
  if (advice !== '') {
    throw new CommandError('this machine has no resolver that apply can configure', {
      code: 'DNS_CANNOT_SPLIT',
      next: `${advice}\n\nNothing was changed`,
    });
  }
  await assertOwnFiles(root, [{ path: DNS_UNIT_FILE, text: dnsUnitText(plan, input.program) }]);
  if (root !== THIS_MACHINE) {
    await writeUnit(input);
    return { plan, silent: [], verdict: undefined, others: [] };
  }
  const others = (await listScopes()).filter(({ link }) => link !== DNS_LINK);
  await assertOwnLink(root);
  const wasApplied = await hasLink();
  try {
    return { ...(await applyHere(input)), others };
  } catch (error) {
    if (!wasApplied) await undoDns(root);
    throw error;
  }
}

async function applyHere(input: ApplyInput): Promise<Omit<Applied, 'others'>> {
  const { plan, root } = input;
  await makeFolders(root, [DNS_UNIT_FILE]);
  await addToRecord(root, { links: [DNS_LINK] });
  await raiseLink(plan);
  // Before the servers are asked, which takes seconds if they are silent.
  await configureLink(plan);
  const answers = await askServers(plan);
  const used = usable(plan, answers);
  if (used.servers.length < plan.servers.length) {
    await raiseLink(used);
    await configureLink(used);
  }
  await writeUnit({ ...input, plan: used });
  const manager = serviceManagerOf(root);
  await manager?.reload();
  await manager?.enable(DNS_UNIT_NAME);
  // It sets the link up once more: not after this command, when another one may have changed it.
  await manager?.startAndWait(DNS_UNIT_NAME);
  const silent = plan.servers.filter((server) => !used.servers.includes(server));
  return { plan: used, silent, verdict: await verify(used, answers) };
}

/** One that never answers would delay every name of the cluster by seconds. */
function usable(plan: DnsPlan, answers: readonly Answer[]): DnsPlan {
  const answering = answers.filter(({ addresses }) => addresses !== undefined);
  return answering.length === 0 ? plan : { ...plan, servers: answering.map((each) => each.server) };
}

async function writeUnit({ plan, root, program }: ApplyInput): Promise<void> {
  await makeFolders(root, [DNS_UNIT_FILE]);
  await addToRecord(root, { units: [DNS_UNIT_NAME] });
  const text = dnsUnitText(plan, program);
  await installFile(root, { path: DNS_UNIT_FILE, text, mode: PUBLIC_FILE_MODE });
}

async function assertOwnLink(root: string): Promise<void> {
  if (!(await hasLink()) || (await readRecord(root)).links.includes(DNS_LINK)) return;
  throw new CommandError(`an interface ${DNS_LINK} exists, and Fairlead did not make it`, {
    code: 'DNS_LINK_FOREIGN',
    next: `remove it (ip link delete ${DNS_LINK}), or rename it; nothing was changed`,
  });
}

/**
 * /etc/systemd/system/fairlead-dns.service: makes the link again after a reboot. A systemd-resolved
 * that is restarted keeps the settings of links; as a part of it the unit would take the link away
 * for a moment. Not after fairlead.service: while that waits for the API server, names of the cluster
 * would be asked of other servers.
 */
export function dnsUnitText(plan: DnsPlan, program: readonly string[]): string {
  const servers = plan.servers.flatMap((server) => ['--server', server]);
  const command = (action: string, more: readonly string[]): string =>
    [...program, 'outside', 'dns', action, ...more].map(unitWord).join(' ');
  return `# Names of the cluster on a machine outside of it: docs/outside.md.
[Unit]
Description=Names of the Kubernetes cluster by systemd-resolved
After=systemd-resolved.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${command('link', ['--domain', plan.domain, ...servers])}
ExecStop=${command('unlink', [])}
TimeoutStartSec=60
TimeoutStopSec=30

# It makes one interface, and talks to systemd-resolved by D-Bus.
CapabilityBoundingSet=CAP_NET_ADMIN
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX

[Install]
WantedBy=systemd-resolved.service
`;
}
