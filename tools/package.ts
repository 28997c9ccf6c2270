/**
 * `npm run package`: the npm package, fairlead-VERSION.tgz, for the kind of machine that it is made on.
 * That of a release is for all of them: `npm run release`.
 */
import { join } from 'node:path';
import { explained } from './image/explained.ts';
import { machineOf } from './image/machine.ts';
import { writePackage } from './image/npm-package.ts';

const root = join(import.meta.dirname, '..');

await explained(async () => {
  const machine = machineOf(process.arch);
  const from = [{ machine, packages: join(root, 'node_modules') }];
  await writePackage(root, { folder: join(root, 'dist/package'), from });
});
