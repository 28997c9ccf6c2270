import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { manualPages } from './manual.ts';
import type { Verb } from './verbs.ts';
import { zshCompletion } from './zsh.ts';

/** Completion writers by shell, with the file name that the shell expects. */
export const SHELLS = {
  bash: { write: bashCompletion, fileName: 'fairlead.bash' },
  zsh: { write: zshCompletion, fileName: '_fairlead' },
  fish: { write: fishCompletion, fileName: 'fairlead.fish' },
} as const satisfies Record<string, { write(verbs: readonly Verb[]): string; fileName: string }>;

export type Shell = keyof typeof SHELLS;

/** Writes completions/ and man/ for a package, generated from the commands. */
export async function writeShellFiles(
  folder: string,
  { verbs, about, version }: { verbs: readonly Verb[]; about: string; version: string },
): Promise<void> {
  const files = [
    ...Object.values(SHELLS).map(({ write, fileName }) => ({
      path: join(folder, 'completions', fileName),
      text: write(verbs),
    })),
    ...manualPages(verbs, { version, about }).map(({ fileName, text }) => ({
      path: join(folder, 'man', fileName),
      text,
    })),
  ];
  for (const { path, text } of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}
