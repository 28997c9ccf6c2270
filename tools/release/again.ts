import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../commands/run.ts';
import { ImageError } from '../image/image-error.ts';
import { differingNames, SUMS_NAME } from './sums.ts';

const RELEASE_TIMEOUT_MS = 1_200_000;
/** What must not reach a file: time zone, language and umask of the person who makes it. */
const OTHER_PLACE = { TZ: 'Asia/Kathmandu', LC_ALL: 'C' };
const UMASK = '077';

/** What was made first: by which arguments, with which sums, dated when. */
interface Made {
  readonly args: readonly string[];
  readonly sums: string;
  readonly createdAtSeconds: number;
}

/** Makes the release once more in another process with another environment, and compares. */
export async function makeAgain(
  root: string,
  { args, sums, createdAtSeconds }: Made,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-release-'));
  try {
    const program = join(import.meta.dirname, 'main.ts');
    const { ok, output } = await runCommand({
      program: 'sh',
      args: [
        '-c',
        `umask ${UMASK}; exec "$@"`,
        'sh',
        process.execPath,
        program,
        ...args,
        '--out',
        folder,
      ],
      folder: root,
      // A commit in between is no difference.
      env: { ...process.env, ...OTHER_PLACE, SOURCE_DATE_EPOCH: String(createdAtSeconds) },
      timeoutMs: RELEASE_TIMEOUT_MS,
      signal: new AbortController().signal,
    });
    if (!ok)
      throw new ImageError('RELEASE_AGAIN', `the second run failed: ${output}`, 'run it alone');
    const names = differingNames(sums, await readFile(join(folder, SUMS_NAME), 'utf8'));
    if (names.length === 0) return;
    throw new ImageError(
      'RELEASE_DIFFERS',
      `made twice, different bytes: ${names.join(', ')}`,
      'find what depends on time, place or order, and sort or omit it',
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}
