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

/** Runs a command of Fairlead on a node or on the machine, for the agent that runs there; gives its exit code. */
export async function runFairlead(host: HostOfLab, args: readonly string[]): Promise<number> {
  const folder = join(labFolder(host.lab), 'proxies', host.role, 'run');
  if (!existsSync(folder)) {
    throw new LabError('LAB_NOT_FOUND', `Fairlead does not run on '${host.role}'`, {
      next: `start a lab with it: npm run lab -- up ${host.role === MACHINE ? '--outside' : '--proxy fairlead-nftables'}`,
    });
  }
  const [verb, ...rest] = args;
  const found = verb === undefined || verb.startsWith('-') ? [] : [`--run-folder=${folder}`];
  if (verb === 'cleanup') found.push(...programFlags(host));
  const command = [verb ?? '--help', ...found, ...rest];
  return await runOnHost(host, [process.execPath, PROGRAM, ...command]);
}

/** Its eBPF programs are not where those of a whole machine are. */
function programFlags({ lab, role }: HostOfLab): string[] {
  const cgroupPath = join(socketGroupFolder(lab), role);
  if (!existsSync(cgroupPath)) return [];
  return cleanupFlags({ cgroupPath, pinFolder: pinFolder(labFolder(lab), role) });
}
