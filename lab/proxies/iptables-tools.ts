import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { IptablesProgram } from '../host/iptables-program.ts';

const IPTABLES_COMMANDS = ['iptables', 'ip6tables'].flatMap((name) => [
  name,
  `${name}-save`,
  `${name}-restore`,
]);

/** A folder in which `iptables` means one backend, whatever the host's default is. */
export async function linkIptables(folder: string, program: IptablesProgram): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all(
    [...IPTABLES_COMMANDS, program].map((name) =>
      symlink(`/usr/sbin/${program}`, join(folder, name)),
    ),
  );
  return folder;
}
