import { findOnPath } from '../../../linux/find-on-path.ts';
import { RunningProgram } from '../../../linux/running-program.ts';
import { GATEWAY_DNS, GATEWAY_RANGE } from './files.ts';

/** Programs that give a network namespace of a user the networks of the machine, best first. */
export const NETWORK_PROGRAMS = ['slirp4netns', 'pasta'] as const;
export type NetworkProgram = (typeof NETWORK_PROGRAMS)[number];

/** Undefined: none is installed. */
export function findNetworkProgram(path: string | undefined): NetworkProgram | undefined {
  return NETWORK_PROGRAMS.find((program) => findOnPath(program, path) !== undefined);
}

/**
 * Starts it for the namespaces of a process. It ends with its standard input, and so with us,
 * however we end.
 */
export function startNetwork(program: NetworkProgram, pid: number): RunningProgram {
  const [command, ...args] = ARGUMENTS[program](String(pid));
  return RunningProgram.start(command, args);
}

const ARGUMENTS: Readonly<Record<NetworkProgram, (pid: string) => [string, ...string[]]>> = {
  slirp4netns: (pid) => [
    'slirp4netns',
    '--configure',
    '--mtu=65520',
    '--disable-host-loopback',
    `--cidr=${GATEWAY_RANGE}`,
    '--exit-fd=0',
    pid,
    'tap0',
  ],
  // It has no such option: a shell ends it when the input ends. By default it would forward ports.
  pasta: (pid) => [
    'sh',
    '-c',
    'pasta -f -q --config-net -t none -u none -T none -U none --dns-forward "$1" "$2" & cat; kill $!',
    'sh',
    GATEWAY_DNS,
    pid,
  ],
};
