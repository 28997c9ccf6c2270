import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from '../host/errors.ts';
import { labFolder } from '../host/folders.ts';
import { pinFolder } from '../host/pins.ts';
import { socketGroupFolder } from '../host/socket-groups.ts';
import { MACHINE } from '../network/plan.ts';
import { cleanupFlags } from '../outside/start.ts';
import { type HostOfLab, runOnHost } from './enter.ts';

const PROGRAM = join(import.meta.dirname, '../../src/main.ts');
/** From its sources it uses what Node calls experimental. */
const QUIET = '--disable-warning=ExperimentalWarning';

/** Runs a command of Fairlead on a node or on the machine, for the agent that runs there; gives its exit code. */
export async function runFairlead(host: HostOfLab, args: readonly string[]): Promise<number> {
  return await runOnHost(host, fairleadArgv(host, args));
}

/** A command of Fairlead with the flags by which it finds the agent of this host. */
export function fairleadArgv(host: HostOfLab, args: readonly string[]): [string, ...string[]] {
  const folder = join(labFolder(host.lab), 'proxies', host.role, 'run');
  if (!existsSync(folder)) {
    throw new LabError('LAB_NOT_FOUND', `Fairlead does not run on '${host.role}'`, {
      next: `start a lab with it: npm run lab -- up ${host.role === MACHINE ? '--outside' : '--proxy fairlead-nftables'}`,
    });
  }
  const { verb, rest } = splitVerb(args);
  const flags = flagsOf(verb, { ...host, folder });
  return ['env', kubeconfigOf(host), process.execPath, QUIET, PROGRAM, ...verb, ...flags, ...rest];
}

/** On a node a person has one, too: `explain --from pod:` asks the API server for the pod. */
function kubeconfigOf({ lab }: HostOfLab): string {
  const given = process.env['KUBECONFIG'];
  return `KUBECONFIG=${given ?? join(labFolder(lab), 'admin.kubeconfig')}`;
}

/** Commands of a group have two words. */
function splitVerb(args: readonly string[]): { verb: readonly string[]; rest: readonly string[] } {
  const count = args[0] === 'outside' ? 2 : 1;
  return { verb: args.slice(0, count), rest: args.slice(count) };
}

const ASKS_THE_AGENT = [
  'status',
  'services',
  'explain',
  'diff',
  'doctor',
  'history',
  'top',
  'view',
  'render',
  'cleanup',
  'outside check',
];

/** Where the lab has what a whole machine has in /run and /etc. */
function flagsOf(verb: readonly string[], of: HostOfLab & { folder: string }): string[] {
  const name = verb.join(' ');
  if (!ASKS_THE_AGENT.includes(name)) return [];
  return [
    `--run-folder=${of.folder}`,
    ...(name === 'cleanup' ? programFlags(of) : []),
    ...(name === 'outside check' ? [`--config=${join(of.folder, '../fairlead.json')}`] : []),
  ];
}

/** Its eBPF programs are not where those of a whole machine are. */
function programFlags({ lab, role }: HostOfLab): string[] {
  const cgroupPath = join(socketGroupFolder(lab), role);
  if (!existsSync(cgroupPath)) return [];
  return cleanupFlags({ cgroupPath, pinFolder: pinFolder(labFolder(lab), role) });
}
