import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { updateDocument } from '../../lab/host/document.ts';
import type { Run } from '../record.ts';
import { keepRun } from '../run-file.ts';
import { BOUND_HEAD, boundRow } from './bounds.ts';
import { changeSection, coldSection } from './control-tables.ts';
import { goalsOf } from './goals.ts';
import { headlinesSection } from './headlines.ts';
import { plotsOf } from './plots.ts';
import { sectionMarkdown } from './section.ts';
import { sectionsOf } from './sections.ts';
import { whereText } from './terminal.ts';

/** Tables between their marks; plots and the figures themselves in a folder of the document's name. */
export async function writeDocument(file: string, run: Run): Promise<void> {
  const folder = file.replace(/\.md$/, '');
  await mkdir(folder, { recursive: true });
  await keepRun(join(folder, 'run.json'), run);
  for (const [name, svg] of plotsOf(run)) await writeFile(join(folder, name), svg);
  for (const section of [headlinesSection(run), ...sectionsOf(run)]) {
    await updateDocument(file, section.name, sectionMarkdown(section));
  }
  const goals = { head: BOUND_HEAD, rows: goalsOf(run).map(boundRow) };
  await updateDocument(file, 'goals', sectionMarkdown({ name: 'goals', title: '', ...goals }));
  await updateDocument(file, 'machine', `${whereText(run)}`);
}

/** For a document about one mode: starts, changes, and what they were measured on. */
export async function writeTables(file: string, run: Run): Promise<void> {
  for (const section of [coldSection(run), changeSection(run)]) {
    await updateDocument(file, section.name, sectionMarkdown(section));
  }
  await updateDocument(file, 'machine', whereText(run));
}
