import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import type { ScenarioResult } from '../../../conformance/runner/run-scenario.ts';
import { updateDocument } from '../../../lab/host/document.ts';
import { compareKernels, comparisonMarkdown } from './differences.ts';

interface AnswerFile {
  readonly kernel: string;
  /** Several, if parts of the scenarios ran side by side. */
  readonly files: readonly string[];
}

export const command = new Command()
  .argument(
    '<one>',
    'KERNEL=FILE[,FILE…], files of `npm run conformance -- --json FILE`',
    answerFile,
  )
  .argument('<other>', 'the same of another kernel, as with --kernel uml', answerFile)
  .option('--docs <file>', 'write the tables into a Markdown file, between its marks')
  .action(async (one: AnswerFile, other: AnswerFile, options: { docs?: string }) => {
    const text = comparisonMarkdown(compareKernels(await read(one), await read(other)));
    console.log(text);
    if (options.docs) await updateDocument(options.docs, 'kernels', text);
  });

async function read({ kernel, files }: AnswerFile) {
  const results: ScenarioResult[] = [];
  for (const file of files) results.push(...JSON.parse(await readFile(file, 'utf8')));
  return { kernel, results };
}

function answerFile(text: string): AnswerFile {
  const [kernel = '', file] = text.split('=', 2);
  if (kernel !== '' && file) return { kernel, files: file.split(',') };
  throw new InvalidArgumentError('It must be KERNEL=FILE, such as 6.1=/tmp/answers.json.');
}
