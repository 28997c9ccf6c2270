import { createHash, randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode } from '../../cluster/cluster-error.ts';
import { CommandError } from '../../commands/command-error.ts';

export const SECRET_FILE_MODE = 0o600;
export const PUBLIC_FILE_MODE = 0o644;
export const SECRET_FOLDER_MODE = 0o700;
export const PUBLIC_FOLDER_MODE = 0o755;

/** Ends the name of a file that is being written; one is left if the process is killed. */
export const TEMPORARY_SUFFIX = '.fairlead-tmp';

export interface FileToWrite {
  readonly text: string;
  readonly mode: number;
}

/** The content is the old or the new one, also after a crash; the folder must exist. */
export async function writeAtomically(path: string, { text, mode }: FileToWrite): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}${TEMPORARY_SUFFIX}`;
  try {
    // Exclusively: a symbolic link there must not be followed.
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(text);
      // The umask may have removed bits.
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** A rename is on disk when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The folders that do not exist yet, the outermost first. */
export async function missingFolders(path: string): Promise<readonly string[]> {
  const missing: string[] = [];
  let folder = path;
  while (!(await exists(folder))) {
    missing.unshift(folder);
    folder = dirname(folder);
  }
  return missing;
}

/** The mode is for the folder itself; those above can be read by everybody. */
export async function makeFolder(path: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: PUBLIC_FOLDER_MODE });
  await mkdir(path, { recursive: true, mode });
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Undefined: there is no such file. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Work on files that says, where the system rejects it, what could not be done and why. */
export async function orCommandError<T>(
  { what, code }: { readonly what: string; readonly code: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = systemCode(error);
    if (reason === undefined) throw error;
    throw new CommandError(`${what}: ${reason}`, {
      code,
      next: 'run it as root; if it is root, check that the file system is writable',
      cause: error,
    });
  }
}
