import { readFile, writeFile } from 'node:fs/promises';
import { LabError } from './errors.ts';

/** Replaces what stands between the two marks of a section: tables in documents are made, not typed. */
export async function updateDocument(file: string, section: string, body: string): Promise<void> {
  const begin = `<!-- ${section}:begin -->`;
  const end = `<!-- ${section}:end -->`;
  const text = await readFile(file, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) {
    throw new LabError('LAB_USAGE', `${file} has no section '${section}'`, {
      next: `add the lines ${begin} and ${end} where the table belongs`,
    });
  }
  const head = text.slice(0, from + begin.length);
  await writeFile(file, `${head}\n${body}\n${text.slice(to)}`);
}
