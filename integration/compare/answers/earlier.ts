import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError } from '../../../lab/host/errors.ts';
import { run, tryRun } from '../../../lab/host/run.ts';

/** Writes the program of another commit into a folder, to be run from source. */
export async function checkOutEarlier(root: string, commit: string, folder: string): Promise<void> {
  const known = await tryRun(['git', 'cat-file', '-e', `${commit}^{commit}`], { cwd: root });
  if (known.exitCode !== 0) {
    throw new LabError('LAB_USAGE', `this copy of the repository has no commit ${commit}`, {
      next: 'fetch it, or name another one',
    });
  }
  await mkdir(folder);
  const archive = join(folder, 'sources.tar');
  await run(['git', 'archive', `--output=${archive}`, commit, 'src', 'package.json'], {
    cwd: root,
  });
  await run(['tar', '-xf', archive, '-C', folder]);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
}
