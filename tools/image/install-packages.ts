import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../commands/run.ts';
import { ImageError } from './image-error.ts';
import type { Machine } from './machine.ts';

const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Installs the packages of package-lock.json for a machine, which may be another one than this, and
 * gives the path of their node_modules. npm compares each with its hash.
 */
export async function installPackages(
  root: string,
  { machine, folder }: { machine: Machine; folder: string },
): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const name of ['.npmrc', 'package.json', 'package-lock.json']) {
    await cp(join(root, name), join(folder, name));
  }
  const { ok, output } = await runCommand({
    program: 'npm',
    args: ['ci', '--no-audit', '--no-fund', '--os=linux', `--cpu=${machine.cpu}`, '--libc=glibc'],
    folder,
    timeoutMs: INSTALL_TIMEOUT_MS,
    signal: new AbortController().signal,
  });
  if (ok) return join(folder, 'node_modules');
  throw new ImageError(
    'IMAGE_INSTALL',
    `npm ci failed:\n${output}`,
    'check that the npm registry is reachable',
  );
}
