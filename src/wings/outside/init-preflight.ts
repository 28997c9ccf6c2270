import { existsSync, realpathSync } from 'node:fs';
import os from 'node:os';
import { delimiter, join } from 'node:path';
import { isLoopbackIp } from '../../addresses/loopback.ts';
import { systemCode } from '../../cluster/cluster-error.ts';
import { CommandError } from '../../commands/command-error.ts';
import type { ClusterFacts } from './cluster-facts.ts';
import type { InitOptions } from './init-options.ts';
import type { Plan } from './init-plan.ts';
import { THIS_MACHINE } from './paths.ts';
import { type OwnAddress, overlaps } from './ranges.ts';

/** Folders that ProtectHome and PrivateTmp hide from the service. */
const HIDDEN = ['/home/', '/root/', '/run/user/', '/tmp/', '/var/tmp/'];
/** Where `npm install --global` puts it. */
const USUAL_PROGRAM = '/usr/local/bin/fairlead';

/** The command that starts Fairlead on the machine. */
export function programOf({
  program,
  root,
}: Pick<InitOptions, 'program' | 'root'>): readonly string[] {
  if (program !== undefined) return [program];
  const [node, script] = process.argv;
  if (root !== THIS_MACHINE || node === undefined || script === undefined) return [USUAL_PROGRAM];
  return [process.execPath, script];
}

/** The first file of the program that the service could not see. */
export function hiddenProgram(program: readonly string[]): string | undefined {
  return program.find((path) => [path, realPath(path)].some(isHidden));
}

function isHidden(path: string): boolean {
  return HIDDEN.some((folder) => path.startsWith(folder));
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return path;
  }
}

export function hiddenProgramError(path: string): CommandError {
  return new CommandError(`the service could not start ${path}: its sandbox hides that folder`, {
    code: 'PROGRAM_HIDDEN',
    next: 'install Node and Fairlead for all users (npm install --global), or pass --program with a path outside of /home, /root and /tmp; nothing was changed',
  });
}

/** PATH of a unit of systemd; the caller's may lack sbin, as after `su`. */
const UNIT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Whether one of the programs is there, or none is needed. */
export function hasProgram(programs: readonly string[], path = UNIT_PATH): boolean {
  const folders = path.split(delimiter);
  return (
    programs.length === 0 ||
    programs.some((name) => folders.some((folder) => existsSync(join(folder, name))))
  );
}

export function missingProgramError(mode: string, programs: readonly string[]): CommandError {
  return new CommandError(`mode ${mode} needs ${programs.join(' or ')}, which this machine lacks`, {
    code: 'PROGRAM_MISSING',
    next: `install the package ${mode}, or leave out --mode; nothing was changed`,
  });
}

/** Whether the address means another machine on each machine. */
export function isLoopbackServer(server: string): boolean {
  const host = new URL(server).hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || isLoopbackIp(host);
}

export function loopbackError(server: string): CommandError {
  return new CommandError(
    `the API server is at ${server}: on another machine, that is the machine itself`,
    {
      code: 'SERVER_LOOPBACK',
      next: 'pass --server with the address at which the machine reaches it; nothing was changed',
    },
  );
}

/** What works, but not as its user may expect. */
export function planWarnings(
  plan: Plan,
  facts: ClusterFacts,
  options: InitOptions,
): readonly string[] {
  const isHere = options.root === THIS_MACHINE;
  return [
    ...(isHere ? nodeWarnings(facts) : []),
    ...(isHere ? overlapWarnings(plan) : []),
    ...(plan.podRanges.length === 0 ? [noPodRanges(facts)] : []),
    ...(plan.serviceRanges.length === 0 ? [`${NO_SERVICE_RANGES}; ${PASS_RANGES}`] : []),
    ...(facts.dns === undefined ? [NO_DNS] : []),
    ...(isHere && isLoopbackServer(plan.server) ? [loopbackWarning(plan.server)] : []),
  ];
}

/** A node runs a proxy already, which serves more than this machine would. */
function nodeWarnings({ nodeAddresses }: ClusterFacts): readonly string[] {
  const own = ownAddresses().map(({ cidr }) => cidr.split('/')[0] ?? '');
  const name = own.map((address) => nodeAddresses.get(address)).find((each) => each !== undefined);
  if (name === undefined) return [];
  return [
    `this machine has an address of Node ${name}: if it is that node, install Fairlead there by its manifests (docs/install.md), not by this command`,
  ];
}

function overlapWarnings({ podRanges, serviceRanges }: Plan): readonly string[] {
  return overlaps([...serviceRanges, ...podRanges], ownAddresses()).map(
    ({ range, with: { cidr, interface: name } }) =>
      `${range} of the cluster overlaps ${cidr} on ${name}: hosts there may become unreachable, or pods; \`fairlead outside check\` says which`,
  );
}

function ownAddresses(): readonly OwnAddress[] {
  return Object.entries(os.networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses.flatMap(({ cidr, internal }) =>
      cidr === null || internal ? [] : [{ interface: name, cidr }],
    ),
  );
}

function noPodRanges({ nodeCount }: ClusterFacts): string {
  return `the ${nodeCount} Nodes name no common pod range: all connections to Services are masqueraded, and overlaps with pods are not checked; pass --pod-cidr if you know it`;
}

const NO_SERVICE_RANGES =
  'the cluster has no ServiceCIDR objects (they exist from Kubernetes 1.33 on), and ClusterIPs outside of known ranges are not served';
const PASS_RANGES =
  'pass --service-cidr with the value of --service-cluster-ip-range of the API server';

/** A machine without them would serve nothing. */
export function assertServiceRanges({ serviceRanges }: Pick<Plan, 'serviceRanges'>): void {
  if (serviceRanges.length > 0) return;
  throw new CommandError(NO_SERVICE_RANGES, {
    code: 'SERVICE_RANGES_UNKNOWN',
    next: `${PASS_RANGES}; nothing was changed`,
  });
}

const NO_DNS =
  'no Service in kube-system has the label k8s-app=kube-dns, so names of Services will not work; addresses do';

function loopbackWarning(server: string): string {
  return `the API server is at ${server}: this works only while this machine runs it, or a tunnel to it; else pass --server`;
}
