import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemCode } from '../../cluster/errors.ts';
import { isAlive } from '../../linux/is-alive.ts';

const NAME = /^fairlead-shell-(\d+)-/;

/** The folder of a shell, for its owner alone; removes those of shells that could not. */
export async function makeShellFolder(env: NodeJS.ProcessEnv): Promise<string> {
  const parent = env['XDG_RUNTIME_DIR'] || tmpdir();
  await removeDead(parent);
  return await mkdtemp(join(parent, `fairlead-shell-${process.pid}-`));
}

export async function removeShellFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

async function removeDead(parent: string): Promise<void> {
  for (const entry of await readdir(parent, { withFileTypes: true })) {
    const pid = NAME.exec(entry.name)?.[1];
    if (pid === undefined || !entry.isDirectory() || isAlive(Number(pid))) continue;
    try {
      await removeShellFolder(join(parent, entry.name));
    } catch (error) {
      // Another user's: it is theirs to remove.
      if (!['EACCES', 'EPERM'].includes(systemCode(error) ?? '')) throw error;
    }
  }
}
