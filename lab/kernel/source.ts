import { existsSync } from 'node:fs';
import { LabError } from '../host/errors.ts';
import { tryRun } from '../host/run.ts';

const PACKAGE = 'linux-source-6.1';
/** To build it, beside the source. */
const BUILD_PACKAGES = [
  'bc',
  'bison',
  'flex',
  'gcc',
  'libc6-dev',
  'libelf-dev',
  'make',
  'xz-utils',
];

export interface KernelSource {
  readonly archive: string;
  /** Of Debian's package, for example `6.1.158-1`. */
  readonly version: string;
}

/** The source of Debian's kernel on this machine. */
export async function findSource(): Promise<KernelSource> {
  const archive = `/usr/src/${PACKAGE}.tar.xz`;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own format
  const query = await tryRun(['dpkg-query', '-W', '-f', '${Version}', PACKAGE]);
  if (query.exitCode !== 0 || !existsSync(archive)) {
    throw new LabError(
      'LAB_TOOL_MISSING',
      `the source of the kernel, ${PACKAGE}, is not installed`,
      {
        next: `apt-get install --no-install-recommends ${[PACKAGE, ...BUILD_PACKAGES].join(' ')}`,
      },
    );
  }
  return { archive, version: query.stdout.trim() };
}
