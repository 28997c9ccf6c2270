/**
 * `node tools/error-texts/main.ts` prints every error text of src with its code and what to do next.
 * `npm run check -- texts` fails on texts of the program that use a word from the list in words.ts.
 */
import { join } from 'node:path';
import { readErrorTexts } from './read.ts';
import { shippedSources } from './sources.ts';
import { formatErrorText } from './view.ts';
import { unclearTexts } from './words.ts';

const root = join(import.meta.dirname, '../..');
const sources = await shippedSources(root);
const unclear = [...sources].flatMap(([file, source]) =>
  unclearTexts(source).map((each) => ({ ...each, file })),
);
const texts = readErrorTexts(sources);

for (const { file, line, text, word, instead } of unclear) {
  console.error(`${file}:${line}\n  problem  "${word}" in: ${text}\n  remedy   ${instead}\n`);
}
if (!process.argv.includes('--check')) console.log(texts.map(formatErrorText).join('\n\n'));
if (texts.length === 0) {
  console.error(`No error texts below ${root}: a check that reads nothing must not pass.`);
}
if (unclear.length > 0 || texts.length === 0) process.exitCode = 1;
else if (process.argv.includes('--check')) console.log(`${texts.length} error texts.`);
