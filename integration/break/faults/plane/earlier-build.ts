import { mkdir, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, tryRun } from '../../../../lab/host/run.ts';
import { BUNDLES, programsOf } from './builds.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const FOLDER = dirname(BUNDLES.earlier);
const SOURCES = join(FOLDER, 'sources');
const PARTS = ['src', 'tools', 'bpf', 'package.json'] as const;
const BUILD_DEADLINE_MS = 300_000;

/** Makes the program of another commit of this repository; false: this copy does not have the commit. */
export async function buildEarlier(
  commit: string,
  of: { readonly hasPrograms: boolean; readonly hasForwarder: boolean },
): Promise<boolean> {
  const known = await tryRun(['git', 'cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT });
  if (known.exitCode !== 0) return false;
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(SOURCES, { recursive: true });
  const archive = join(FOLDER, 'sources.tar');
  await run(['git', 'archive', `--output=${archive}`, commit, ...PARTS], { cwd: ROOT });
  await run(['tar', '-xf', archive, '-C', SOURCES]);
  await symlink(join(ROOT, 'node_modules'), join(SOURCES, 'node_modules'));
  const build = { cwd: SOURCES, deadlineMs: BUILD_DEADLINE_MS };
  const { agent, forwarder } = programsOf('earlier');
  const bundle = (from: string, to: string): Promise<string> =>
    run([process.execPath, 'tools/bundle.ts', from, to], build);
  await bundle('src/main.ts', agent);
  // They are found beside the bundle.
  if (of.hasForwarder) await bundle('src/wings/userspace/forwarder.ts', forwarder);
  if (of.hasPrograms) {
    await run([process.execPath, 'tools/bpf.ts', '--into', join(FOLDER, 'bpf')], build);
  }
  return true;
}
