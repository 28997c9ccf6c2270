import { createHash } from 'node:crypto';
import type { Artifact } from './artifact.ts';

export const SUMS_NAME = 'SHA256SUMS';

/** Of all files, as `sha256sum --check` reads it. */
export function sumsOf(artifacts: readonly Artifact[]): Artifact {
  const lines = artifacts
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, bytes }) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`);
  return { name: SUMS_NAME, bytes: Buffer.from(lines.join('')) };
}

/** Names of files that only one of the two lists has, or that have another sum there. */
export function differingNames(one: string, other: string): string[] {
  const lines = [new Set(linesOf(one)), new Set(linesOf(other))] as const;
  const names = [...lines[0].symmetricDifference(lines[1])].map(
    (line) => line.split('  ')[1] ?? line,
  );
  return [...new Set(names)].sort();
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
