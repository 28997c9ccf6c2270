import { copyFile } from 'node:fs/promises';
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

const COMPILER = inTree('tools/bpf.ts');
const OTHER_PROGRAMS = inTree('dist/other-build/bpf');
const OTHER_CPU = 'v2';

/** The programs of both builds, and the bundle of the second: it finds its programs beside itself. */
export async function buildPrograms(): Promise<void> {
  await run([process.execPath, COMPILER]);
  await run([process.execPath, COMPILER, '--into', OTHER_PROGRAMS, '--cpu', OTHER_CPU]);
  await copyFile(BUNDLES.usual, BUNDLES.other);
}

function inTree(path: string): string {
  return fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
}
