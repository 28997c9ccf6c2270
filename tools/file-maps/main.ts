import { join } from 'node:path';
import { checkFileMaps } from './check.ts';
import { checkNames } from './names.ts';

const root = join(import.meta.dirname, '../..');
const { folderCount, problems: ofMaps } = await checkFileMaps(root, 'src');
const problems = [...ofMaps, ...(await checkNames(root, 'src'))];

for (const { file, problem } of problems) console.error(`${file}: ${problem}`);
if (folderCount === 0) console.error('No folders of source were found.');
if (folderCount === 0 || problems.length > 0) process.exitCode = 1;
else
  console.log(
    `${folderCount} folders, each with a README that lists its files, each file with a name of its own.`,
  );
