import type { SystemdMachine } from './boot.ts';
import { type NetworkState, readNetwork } from './network-state.ts';

/** What a program that is removed again must leave as it was. */
export interface MachineState extends NetworkState {
  /** `PATH HASH`, or `PATH -> TARGET`, of every file that a person or a program may write. */
  readonly files: readonly string[];
  readonly resolver: readonly string[];
  readonly units: readonly string[];
  /** Sockets that listen, without the program's number. */
  readonly listeners: readonly string[];
}

/** Without what systemd and the journal write of every unit that ever ran, and of every boot. */
const FILES = `
find /etc /opt /root /srv /usr/local /var/lib /run -xdev \\
  -path /var/lib/systemd -prune -o -path /run/systemd -prune -o -path /run/log -prune -o \\
  -path /run/utmp -prune -o \\
  -type f -print0 | sort -z | xargs -0 -r sha256sum
find /etc /opt /root /srv /usr/local /var/lib /run -xdev -path /run/systemd -prune -o -type l -printf '%p -> %l\\n' | sort
find /etc /opt /root /srv /usr/local /var/lib -xdev -path /var/lib/systemd -prune -o -type d -print | sort
`;

export async function readMachine(machine: SystemdMachine): Promise<MachineState> {
  const lines = async (script: string): Promise<string[]> =>
    (await machine.run(['sh', '-c', script]))
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  return {
    ...(await readNetwork(machine.namespacePath)),
    files: await lines(FILES),
    resolver: (await lines('resolvectl status')).filter((line) => !/Current DNS Server/.test(line)),
    units: await lines(
      'systemctl list-unit-files --no-legend; systemctl list-units --no-legend --plain --type=service --state=active | cut -d" " -f1 | sort',
    ),
    listeners: (await lines('ss -Hlntu | sort')).map((line) => line.replace(/\s+/g, ' ')),
  };
}

/** `links: + fairlead0`, one line for each thing that came, went or changed. */
export function changesBetween(before: MachineState, after: MachineState): readonly string[] {
  return (Object.keys(before) as (keyof MachineState)[]).flatMap((part) => {
    const [old, now] = [new Set(before[part]), new Set(after[part])];
    return [
      ...[...old.difference(now)].map((line) => `${part}: - ${line}`),
      ...[...now.difference(old)].map((line) => `${part}: + ${line}`),
    ];
  });
}
