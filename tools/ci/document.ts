import { readFile, writeFile } from 'node:fs/promises';
import { UsageError } from './usage-error.ts';

/** Replaces what stands between the two marks of a section. */
export async function updateSection(file: string, section: string, body: string): Promise<void> {
  const begin = `<!-- ${section}:begin -->`;
  const end = `<!-- ${section}:end -->`;
  const text = await readFile(file, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from)
    throw new UsageError(
      `${file} has no lines ${begin} and ${end}: add them where the table belongs`,
    );
  await writeFile(file, `${text.slice(0, from + begin.length)}\n${body}\n${text.slice(to)}`);
}
