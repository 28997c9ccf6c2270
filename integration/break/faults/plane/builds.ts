import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../../../lab/host/run.ts';

/**
 * Two builds of the same sources: as shipped, and with programs compiled for an older kernel. The earlier
 * one is of the sources of another commit.
 */
export const BUNDLES = {
  usual: inTree('dist/fairlead.mjs'),
  other: inTree('dist/other-build/fairlead.mjs'),
  earlier: inTree('dist/earlier-build/fairlead.mjs'),
} as const;

export type Build = keyof typeof BUNDLES;

const FORWARDERS = {
  usual: inTree('dist/forwarder.mjs'),
  other: inTree('dist/other-build/forwarder.mjs'),
} as const;

const COMPILER = inTree('tools/bpf.ts');
const OTHER_PROGRAMS = inTree('dist/other-build/bpf');
const OTHER_CPU = 'v2';

/** The programs of both builds, and the bundle of the second: it finds its programs beside itself. */
export async function buildPrograms(): Promise<void> {
  await run([process.execPath, COMPILER]);
  await run([process.execPath, COMPILER, '--into', OTHER_PROGRAMS, '--cpu', OTHER_CPU]);
  await copyFile(BUNDLES.usual, BUNDLES.other);
}

/**
 * Both builds of the forwarder, which is found beside the program. The second has one more line: another
 * content is another build, which replaces the first.
 */
export async function buildForwarders(): Promise<void> {
  await mkdir(dirname(FORWARDERS.other), { recursive: true });
  await copyFile(BUNDLES.usual, BUNDLES.other);
  const usual = await readFile(FORWARDERS.usual, 'utf8');
  await writeFile(FORWARDERS.other, `${usual}\n// Another build.\n`);
}

function inTree(path: string): string {
  return fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
}
