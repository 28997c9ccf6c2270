import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { CASES, printedIn } from '../../tests/explain-cases/cases.ts';
import { caseObjects } from '../../tests/explain-cases/shop.ts';
import { startScene } from '../../tests/explain-proof/scene.ts';

interface Options {
  readonly doc: string;
}

export const command = new Command()
  .option(
    '--doc <path>',
    'the page, with the section explain-cases',
    fileURLToPath(new URL('../../../docs/explain.md', import.meta.url)),
  )
  .action(writeCases);

async function writeCases({ doc }: Options): Promise<void> {
  const scene = await startScene('nftables', { objectsOf: caseObjects });
  const sections: string[] = [];
  try {
    for (const each of CASES) {
      const terminal = { columns: 80, hasColours: false };
      const { code, lines } = await printedIn(scene, each, terminal);
      console.log(`${each.title}: exit code ${code}, ${lines[0]}`);
      const output = ['```shell-session', `$ fairlead explain ${each.args}`, ...lines, '```'];
      sections.push(`### ${each.title}`, '', ...output, '', `Exit code ${code}.`, '');
    }
  } finally {
    await scene.stop();
  }
  await updateDocument(doc, 'explain-cases', `\n${sections.join('\n')}`);
}
