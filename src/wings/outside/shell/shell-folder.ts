import { constants } from 'node:fs';
import { access, mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../../cluster/cluster-error.ts';
import { CommandError } from '../../../commands/command-error.ts';
import { printWarning } from '../../../commands/terminal/print.ts';
import { isAlive } from '../../../linux/is-alive.ts';
import { FolderError, folderSafety, removeOwnFolder } from '../../../linux/safe-folder.ts';

const NAME = /^fairlead-shell-(\d+)-/;

/**
 * The folder of a shell, for its owner alone. It is below a folder that nobody else can write to;
 * left-overs of shells that were killed are removed only there. A user without such a folder gets
 * it below the shared temporary one, where nothing but a new folder is touched.
 */
export async function makeShellFolder(
  env: NodeJS.ProcessEnv,
  privateFolders = usualPrivateFolders(),
): Promise<string> {
  const ofSession = env['XDG_RUNTIME_DIR'];
  for (const folder of ofSession ? [ofSession, ...privateFolders] : privateFolders) {
    if (!(await isUsable(folder))) continue;
    await removeDead(folder);
    return await makeBelow(folder);
  }
  const shared = env['TMPDIR'] || '/tmp';
  if (!(await folderSafety(shared)).isFirm) throw unsafe(shared);
  return await makeBelow(shared);
}

/** Deletes nothing that is not this user's alone. */
export async function removeShellFolder(folder: string): Promise<void> {
  await removeOwnFolder(folder);
}

function usualPrivateFolders(): readonly string[] {
  const uid = process.geteuid?.() ?? 0;
  return [`/run/user/${uid}`, ...(uid === 0 ? ['/run'] : [])];
}

async function makeBelow(parent: string): Promise<string> {
  return await mkdtemp(join(parent, `fairlead-shell-${process.pid}-`));
}

async function isUsable(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return (await folderSafety(folder)).isPrivate;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

async function removeDead(parent: string): Promise<void> {
  for (const entry of await readdir(parent, { withFileTypes: true })) {
    const pid = NAME.exec(entry.name)?.[1];
    if (pid === undefined || !entry.isDirectory() || isAlive(Number(pid))) continue;
    const path = join(parent, entry.name);
    try {
      await removeOwnFolder(path);
    } catch (error) {
      if (!(error instanceof FolderError) && systemCode(error) === undefined) throw error;
      printWarning(`cannot remove ${path}, which an earlier shell left: ${String(error)}`);
    }
  }
}

function unsafe(folder: string): CommandError {
  return new CommandError(`other users can replace what is made in ${folder}`, {
    code: 'SHELL_FOLDER_UNSAFE',
    next: 'set XDG_RUNTIME_DIR to a folder that only you can write to',
  });
}
