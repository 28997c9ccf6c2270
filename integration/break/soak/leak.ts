import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { plantText } from '../../../lab/host/plant.ts';
import { buildForwarders, programsOf } from '../faults/plane/builds.ts';

/** Where the agent hands rows to its data plane. */
const APPLY = 'await plane.apply(changes);';
/** About 2 KB for each step. */
const LEAK = '(globalThis.plantedLeak ??= []).push(new Array(256).fill(Math.random()));';
const BUILDS = { usual: 'planted', other: 'otherPlanted' } as const;
const PROGRAMS = join(import.meta.dirname, '../../../dist/bpf');

/** A build that keeps something of every write, to see that the verdict finds it. */
export async function plantLeak(of: { readonly hasPrograms: boolean }): Promise<typeof BUILDS> {
  await mkdir(dirname(programsOf('planted').agent), { recursive: true });
  await buildForwarders(BUILDS);
  for (const build of Object.values(BUILDS)) {
    const { agent } = programsOf(build);
    const by = `${LEAK} ${APPLY}`;
    const planted = {
      name: 'leak',
      replace: APPLY,
      by,
      writtenIn: 'integration/break/soak/leak.ts',
    };
    await writeFile(agent, plantText(await readFile(agent, 'utf8'), planted));
    // They are found beside the bundle.
    if (of.hasPrograms) await cp(PROGRAMS, join(dirname(agent), 'bpf'), { recursive: true });
  }
  return BUILDS;
}
