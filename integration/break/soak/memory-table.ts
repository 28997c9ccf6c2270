import type { MemoryParts } from './memory-parts.ts';
import type { Sample } from './sample.ts';
import { inBlocks } from './trend.ts';
import { BLOCKS, floor, warmSamples } from './verdicts.ts';

const MIB = 1024 ** 2;

const PARTS: readonly (readonly [name: string, part: keyof MemoryParts])[] = [
  ['pages of files: program, libraries', 'fileBytes'],
  ['malloc', 'mallocBytes'],
  ['other anonymous pages, most of them of V8', 'anonymousBytes'],
  ['JavaScript heap that V8 has claimed', 'claimedHeapBytes'],
  ['buffers outside of that heap', 'bufferBytes'],
];

export const MEMORY_HEAD = ['resident memory is made of', 'after the warm-up', 'at the end'];

/** The floor of the first and of the last block. The first three parts add up; the others are in them. */
export function memoryRows(samples: readonly Sample[]): string[][] {
  const warm = warmSamples(samples).flatMap(({ atSeconds, memory }) =>
    memory === undefined ? [] : [{ atSeconds, memory }],
  );
  if (warm.length === 0) return [];
  return PARTS.map(([name, part]) => {
    const points = warm.map(({ atSeconds, memory }) => ({ x: atSeconds, y: memory[part] }));
    const blocks = inBlocks(points, { count: BLOCKS, of: floor });
    return [name, megabytes(blocks[0]?.y), megabytes(blocks.at(-1)?.y)];
  });
}

function megabytes(bytes = 0): string {
  return `${(bytes / MIB).toFixed(1)} MB`;
}
