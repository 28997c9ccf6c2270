/**
 * `npm run package`: the npm package, fairlead-VERSION.tgz, for the kind of machine that it is made on.
 * That of a release is for all of them: `npm run release`.
 */
import { join } from 'node:path';
import { explained } from './image/explained.ts';
import { ingredientsHere } from './image/ingredients.ts';
import { writePackage } from './image/npm-package.ts';

const root = join(import.meta.dirname, '..');

await explained(async () => {
  const folder = join(root, 'dist/package');
  await writePackage(root, { folder, from: [ingredientsHere(root)] });
});
