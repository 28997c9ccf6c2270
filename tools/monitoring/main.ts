/** `npm run monitoring`: writes the dashboard and the alerts of deploy/monitoring. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitoringFiles } from './files.ts';

const folder = join(import.meta.dirname, '../../deploy/monitoring');
const files = monitoringFiles();

for (const [name, text] of files) await writeFile(join(folder, name), text);
console.log(`${files.size} files written into deploy/monitoring: ${[...files.keys()].join(', ')}`);
