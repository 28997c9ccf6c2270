import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { CASES, type Case, printedIn } from '../../tests/explain-cases/cases.ts';
import { caseObjects } from '../../tests/explain-cases/shop.ts';
import { type Scene, startScene } from '../../tests/explain-proof/scene.ts';
import { terminalSvg } from '../terminal-svg.ts';

interface Options {
  readonly doc: string;
  readonly picture: string;
}

const COLUMNS = 80;
/** The case of the picture: another program drops, which no prediction can know. */
const DRAWN_CODE = 'DROPPED_BY_RULE';

export const command = new Command()
  .option(
    '--doc <path>',
    'the page, with the section explain-cases',
    fileURLToPath(new URL('../../../docs/explain.md', import.meta.url)),
  )
  .option(
    '--picture <path>',
    'the picture of one case',
    fileURLToPath(new URL('../../../docs/pictures/explain.svg', import.meta.url)),
  )
  .action(writeCases);

async function writeCases({ doc, picture }: Options): Promise<void> {
  const scene = await startScene('nftables', { objectsOf: caseObjects });
  const sections: string[] = [];
  try {
    for (const each of CASES) {
      const terminal = { columns: COLUMNS, hasColours: false };
      const { code, lines } = await printedIn(scene, each, terminal);
      console.log(`${each.title}: exit code ${code}, ${lines[0]}`);
      const output = ['```shell-session', `$ fairlead explain ${each.args}`, ...lines, '```'];
      if (each.code === DRAWN_CODE) await writeFile(picture, await draw(scene, each));
      sections.push(`### ${each.title}`, '', ...output, '', `Exit code ${code}.`, '');
    }
  } finally {
    await scene.stop();
  }
  await updateDocument(doc, 'explain-cases', `\n${sections.join('\n')}`);
}

async function draw(scene: Scene, each: Case): Promise<string> {
  const { lines } = await printedIn(scene, each, { columns: COLUMNS, hasColours: true });
  const command = `fairlead explain ${each.args}`;
  return terminalSvg({ title: `${command}: ${lines[0]}`, command, lines, columns: COLUMNS });
}
