import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../commands/run.ts';
import { ImageError } from './image-error.ts';
import type { Machine } from './machine.ts';
import type { Origin } from './origin.ts';

/** apt adds what these need: glibc, libgcc, libraries of netfilter. */
const WANTED = ['base-files', 'iptables', 'libstdc++6'];
/** Debian 12 has one /usr: packages still have files in /lib. */
const MERGED = ['bin', 'sbin', 'lib', 'lib64'];
const COMMAND_TIMEOUT_MS = 300_000;

/**
 * Fetches packages of Debian for a machine, by apt with the sources and keys of this one, and unpacks
 * them below `folder`, with dpkg's list of their files and versions. apt compares each with the hash
 * that Debian has signed. Gives the path of the file system.
 */
export async function unpackDebian(
  folder: string,
  { machine, pins }: { machine: Machine; pins: readonly Origin[] },
): Promise<string> {
  const archives = await download(join(folder, 'apt'), { machine, pins });
  const system = join(folder, 'root');
  await makeMerged(system);
  const information = join(system, 'var/lib/dpkg/info');
  await mkdir(information, { recursive: true });
  const stanzas: string[] = [];
  for (const archive of archives) {
    const fields = await run(['dpkg-deb', '--field', archive], folder);
    const name = /^Package: (.*)$/m.exec(fields)?.[1] ?? '';
    stanzas.push(fields.replace(/^Package: .*$/m, '$&\nStatus: install ok installed').trimEnd());
    const script = 'dpkg-deb --fsys-tarfile "$1" | tar -xv --keep-directory-symlink -C "$2"';
    const listed = await run(
      ['bash', '-euo', 'pipefail', '-c', script, 'unpack', archive, system],
      folder,
    );
    const paths = listed.split('\n').map((path) => path.replace(/^\./, '').replace(/(.)\/$/, '$1'));
    await writeFile(join(information, `${name}.list`), paths.join('\n'));
  }
  await writeFile(join(system, 'var/lib/dpkg/status'), `${stanzas.join('\n\n')}\n`);
  return system;
}

async function makeMerged(system: string): Promise<void> {
  for (const name of MERGED) {
    await mkdir(join(system, 'usr', name), { recursive: true });
    await symlink(`usr/${name}`, join(system, name));
  }
}

/** Into a folder with a state of its own: the machine's packages and lists stay as they are. */
async function download(
  folder: string,
  { machine, pins }: { machine: Machine; pins: readonly Origin[] },
): Promise<string[]> {
  const archives = join(folder, 'cache/archives');
  await mkdir(join(archives, 'partial'), { recursive: true });
  await mkdir(join(folder, 'state/lists/partial'), { recursive: true });
  await writeFile(join(folder, 'status'), '');
  const configuration = join(folder, 'apt.conf');
  await writeFile(configuration, settings(folder, machine));
  const apt = async (...args: string[]) =>
    await run(['env', `APT_CONFIG=${configuration}`, 'apt-get', '-qq', '-y', ...args], folder);
  await apt('update');
  await apt('install', '--download-only', ...versioned(machine, pins));
  const names = (await readdir(archives)).filter((name) => name.endsWith('.deb')).sort();
  return names.map((name) => join(archives, name));
}

function versioned({ architecture }: Machine, pins: readonly Origin[]): string[] {
  const pinned = pins.filter((pin) => pin.kind === 'debian' && pin.architecture === architecture);
  const names = new Set(pinned.map(({ name }) => name));
  return [
    ...pinned.map(({ name, version }) => `${name}=${version}`),
    ...WANTED.filter((name) => !names.has(name)),
  ];
}

function settings(folder: string, { architecture }: Machine): string {
  return `APT::Architecture "${architecture}";
APT::Architectures { "${architecture}"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State "${folder}/state";
Dir::State::status "${folder}/status";
Dir::Cache "${folder}/cache";
`;
}

async function run([program, ...args]: [string, ...string[]], folder: string): Promise<string> {
  const { ok, output } = await runCommand({
    program,
    args,
    folder,
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
    timeoutMs: COMMAND_TIMEOUT_MS,
    signal: new AbortController().signal,
  });
  if (ok) return output;
  throw new ImageError(
    'IMAGE_DEBIAN',
    `${args.join(' ')} failed:\n${output}`,
    'check that the sources of apt are reachable and have the pinned versions; newer ones: npm run image -- --pin',
  );
}
