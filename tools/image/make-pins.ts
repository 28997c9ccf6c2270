import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../commands/run.ts';
import { ImageError } from './image-error.ts';
import { MACHINES, type Machine } from './machine.ts';
import { EVERY_ARCHITECTURE, npmOrigin, type Origin } from './origin.ts';
import { machinePackages } from './packages.ts';

const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Pins for what is here. Those of npm are read from a new install, for each machine that there is an
 * image for: npm has just compared it with package-lock.json, unlike node_modules.
 * Those of Debian are of this machine, and those of other machines stay.
 */
export async function makePins(
  root: string,
  {
    origins,
    machine,
    before,
  }: { origins: readonly Origin[]; machine: Machine; before: readonly Origin[] },
): Promise<Origin[]> {
  const shared = origins
    .filter(({ kind, architecture }) => kind === 'npm' && architecture === EVERY_ARCHITECTURE)
    .map(({ name, architecture }) => ({ name, architecture }));
  const installed: Origin[] = [];
  for (const each of MACHINES) {
    installed.push(...(await installedOrigins(root, each, [...shared, ...machinePackages(each)])));
  }
  const elsewhere = before.filter(
    ({ kind, architecture }) => kind === 'debian' && architecture !== machine.architecture,
  );
  return [...installed, ...origins.filter(({ kind }) => kind !== 'npm'), ...elsewhere];
}

async function installedOrigins(
  root: string,
  machine: Machine,
  packages: readonly Pick<Origin, 'name' | 'architecture'>[],
): Promise<Origin[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-pins-'));
  try {
    for (const name of ['.npmrc', 'package.json', 'package-lock.json']) {
      await cp(join(root, name), join(folder, name));
    }
    await install(folder, machine);
    return await Promise.all(packages.map((each) => npmOrigin(join(folder, 'node_modules'), each)));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function install(folder: string, { cpu }: Machine): Promise<void> {
  const { ok, output } = await runCommand({
    program: 'npm',
    args: ['ci', '--no-audit', '--no-fund', '--os=linux', `--cpu=${cpu}`, '--libc=glibc'],
    folder,
    timeoutMs: INSTALL_TIMEOUT_MS,
    signal: new AbortController().signal,
  });
  if (ok) return;
  throw new ImageError(
    'IMAGE_INSTALL',
    `npm ci failed:\n${output}`,
    'check that the npm registry is reachable',
  );
}
