import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LabError } from '../host/errors.ts';
import { cacheFolder } from '../host/folders.ts';
import type { Progress } from '../host/progress.ts';
import { run } from '../host/run.ts';

const PROGRAM = 'mmdebstrap';
const SUITE = 'bookworm';
const BUILD_DEADLINE_MS = 10 * 60_000;
/** What a server installed with Debian 12 has, as far as names and services are concerned. */
const PACKAGES = [
  'ca-certificates',
  'curl',
  'dbus',
  'iproute2',
  'libnss-resolve',
  'systemd',
  'systemd-resolved',
  'systemd-sysv',
];
/** They would fetch packages and inspect disks while something is measured. */
const MASKED_UNITS = [
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'e2scrub_all.timer',
  'fstrim.timer',
];
/** With a machine ID it is not a first boot, at which systemd would enable every unit it ships. */
const MACHINE_ID = '0123456789abcdef0123456789abcdef\n';

/**
 * Folder with the root of a Debian with systemd, never written to again; made by Debian's packages
 * the first time (about a minute), from the servers that apt on this machine uses.
 */
export async function provideRoot(context: {
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}): Promise<string> {
  const path = cachedPath();
  if (existsSync(path)) return path;
  await context.progress.step(`Debian ${SUITE} with systemd (a minute, the first time)`, (detail) =>
    build(path, { detail, signal: context.signal }),
  );
  return path;
}

/** A suite has one version of each package, and a stable one hardly changes: the list is the pin. */
function cachedPath(): string {
  const what = JSON.stringify([SUITE, PACKAGES, MASKED_UNITS, MACHINE_ID]);
  const key = createHash('sha256').update(what).digest('hex').slice(0, 12);
  return join(cacheFolder(), 'roots', `${SUITE}-${key}`);
}

async function build(
  path: string,
  context: { detail: (text: string) => void; signal: AbortSignal | undefined },
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Renamed when it is complete: an interrupted build is never taken for a root.
  const unfinished = await mkdtemp(`${path}.building-`);
  const root = join(unfinished, 'root');
  try {
    await run(
      [
        'nice',
        '-n',
        '19',
        PROGRAM,
        '--mode=root',
        '--variant=minbase',
        ...chosen(),
        SUITE,
        root,
        ...(await sources()),
      ],
      { deadlineMs: BUILD_DEADLINE_MS, signal: context.signal, onStderr: context.detail },
    );
    await writeFile(join(root, 'etc/machine-id'), MACHINE_ID);
    for (const unit of MASKED_UNITS) {
      await symlink('/dev/null', join(root, 'etc/systemd/system', unit));
    }
    await renameUnlessMade(root, path);
  } catch (error) {
    context.signal?.throwIfAborted();
    throw new LabError('LAB_BUILD_FAILED', `cannot make the root of a Debian: ${error}`, {
      next: `apt-get install --no-install-recommends ${PROGRAM}, and check that apt reaches its servers`,
      cause: error,
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Another process may have made the same meanwhile. */
async function renameUnlessMade(from: string, path: string): Promise<void> {
  try {
    await rename(from, path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

const SOURCES = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'];

/** The servers that apt on this machine uses for the suite; without any, Debian's own. */
async function sources(): Promise<string[]> {
  for (const path of SOURCES) {
    const text = existsSync(path) ? await readFile(path, 'utf8') : '';
    if (new RegExp(`^[^#]*\\b${SUITE}\\b`, 'm').test(text)) return [path];
  }
  return [];
}

function chosen(): string[] {
  return [`--include=${PACKAGES.join(',')}`, '--skip=check/empty'];
}
