import { runCommand } from '../commands/run.ts';
import { ImageError } from '../image/image-error.ts';

const GIT_TIMEOUT_MS = 10_000;

/**
 * The date of everything that has one, in seconds: that of the commit, or SOURCE_DATE_EPOCH
 * (reproducible-builds.org/specs/source-date-epoch) where there is no git.
 */
export async function commitTimeSeconds(
  root: string,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const given = environment['SOURCE_DATE_EPOCH'];
  const text = given ?? (await git(root, ['log', '-1', '--format=%ct'])).trim();
  if (/^\d{1,11}$/.test(text)) return Number(text);
  throw new ImageError(
    'RELEASE_DATE_INVALID',
    `SOURCE_DATE_EPOCH is '${text}', which is no number of seconds`,
    'omit it: the date of the commit is used then',
  );
}

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
    'make the release in a checkout, or set SOURCE_DATE_EPOCH',
  );
}
