import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../../../lab/host/run.ts';

/**
 * Two builds of the same sources: as shipped, and with programs compiled for an older kernel or another
 * line in the forwarder. The earlier one is of the sources of another commit; planted ones have a fault.
 */
export const BUNDLES = {
  usual: inTree('dist/fairlead.mjs'),
  other: inTree('dist/other-build/fairlead.mjs'),
  earlier: inTree('dist/earlier-build/fairlead.mjs'),
  planted: inTree('dist/planted/trap/fairlead.mjs'),
  otherPlanted: inTree('dist/planted/other-trap/fairlead.mjs'),
} as const;

export type Build = keyof typeof BUNDLES;

const BUNDLER = inTree('tools/bundle.ts');
const COMPILER = inTree('tools/bpf.ts');
const OTHER_PROGRAMS = inTree('dist/other-build/bpf');
const OTHER_CPU = 'v2';

/** The programs of both builds, and the bundle of the second: it finds its programs beside itself. */
export async function buildPrograms(): Promise<void> {
  await run([process.execPath, COMPILER]);
  await run([process.execPath, COMPILER, '--into', OTHER_PROGRAMS, '--cpu', OTHER_CPU]);
  await copyFile(BUNDLES.usual, BUNDLES.other);
}

/** The agent of a build, and its forwarder, which is found beside it. */
export function programsOf(build: Build): { readonly agent: string; readonly forwarder: string } {
  const agent = BUNDLES[build];
  return { agent, forwarder: join(dirname(agent), 'forwarder.mjs') };
}

/** Two builds of these sources. The second has one more line: another content is another build. */
export async function buildForwarders(of: {
  readonly usual: Build;
  readonly other: Build;
}): Promise<void> {
  const [usual, other] = [programsOf(of.usual), programsOf(of.other)];
  await run([process.execPath, BUNDLER, 'src/main.ts', usual.agent]);
  await run([process.execPath, BUNDLER, 'src/wings/userspace/forwarder.ts', usual.forwarder]);
  await mkdir(dirname(other.agent), { recursive: true });
  await copyFile(usual.agent, other.agent);
  await writeFile(other.forwarder, `${await readFile(usual.forwarder, 'utf8')}// Another build.\n`);
}

function inTree(path: string): string {
  return fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
}
