import { runCommand } from '../commands/run.ts';
import { ImageError } from '../image/image-error.ts';

const GIT_TIMEOUT_MS = 10_000;

/** Files that are not as in the commit: a release of them cannot be made again. */
export async function uncommittedFiles(root: string): Promise<string[]> {
  const status = await git(root, ['status', '--porcelain', '--untracked-files=no']);
  return status.split('\n').filter((line) => line !== '');
}

async function git(folder: string, args: readonly string[]): Promise<string> {
  const { ok, output } = await runCommand({
    program: 'git',
    args,
    folder,
    timeoutMs: GIT_TIMEOUT_MS,
    signal: new AbortController().signal,
  });
  if (ok) return output;
  throw new ImageError(
    'RELEASE_GIT',
    `git ${args.join(' ')} failed: ${output}`,
    'make the release in a checkout',
  );
}
