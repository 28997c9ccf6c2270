import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plantText } from '../lab/host/plant.ts';
import { run } from '../lab/host/run.ts';

/** As the image runs it. */
export const SHIPPED_FLAGS = ['--max-semi-space-size=16'] as const;
const ROOT = join(import.meta.dirname, '..');
/** Inside the project, where the one package that is not in the bundle is found. */
const BUNDLE = join(ROOT, 'dist/bench/fairlead.mjs');
/** Where the bundle looks for what it loads into the kernel. */
const KERNEL_PROGRAMS = join(ROOT, 'dist/bench/bpf');
const PLANTED_BUNDLE = join(ROOT, 'dist/bench/fairlead-planted.mjs');

/** A second or two, and half a minute where a hundred others want the same cores. */
const BUILD = { cwd: ROOT, deadlineMs: 300_000 } as const;

/** In words, for the tables. */
export const SHIPPED_AS = `one bundled file, node ${SHIPPED_FLAGS.join(' ')}`;

/** Where the agent hands rows to its data plane, whichever it is. */
const APPLY = 'await plane.apply(changes);';
const DELAY_MS = 20;
const LEAK_BYTES = 100 * 1024 * 1024;

/** What is put in front of it to see that the benchmark notices. */
const FAULTS = {
  delay: `await new Promise((resolve) => setTimeout(resolve, ${DELAY_MS}));`,
  leak: `globalThis.plantedLeak ??= Buffer.alloc(${LEAK_BYTES}, 1);`,
} as const;

export type Fault = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as Fault[];

/** The programs for the kernel, beside the bundle. It needs a compiler. */
export async function compileKernelPrograms(): Promise<void> {
  const tool = join(ROOT, 'tools/bpf.ts');
  await run([process.execPath, tool, '--into', KERNEL_PROGRAMS], BUILD);
}

/** Makes the program in the form in which it is shipped; gives what Node is started with. */
export async function bundleFairlead(fault?: Fault): Promise<readonly string[]> {
  const tool = join(ROOT, 'tools/bundle.ts');
  await run([process.execPath, tool, 'src/main.ts', BUNDLE], BUILD);
  if (fault === undefined) return [...SHIPPED_FLAGS, BUNDLE];
  await writeFile(PLANTED_BUNDLE, planted(await readFile(BUNDLE, 'utf8'), fault));
  return [...SHIPPED_FLAGS, PLANTED_BUNDLE];
}

/** A fault that is not planted, or planted twice, would falsify the verdict on the bounds. */
export function planted(program: string, fault: Fault): string {
  const by = `${FAULTS[fault]} ${APPLY}`;
  return plantText(program, { name: fault, replace: APPLY, by, writtenIn: 'bench/bundle.ts' });
}
