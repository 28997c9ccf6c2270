import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface LicenseFile {
  /** `package/LICENSE`, or the name alone for Fairlead's own. */
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Fairlead's own licence and those of npm packages whose code goes with it. They ask that it goes
 * with every copy of their code, also inside a bundle.
 */
export async function licenseFiles(
  root: string,
  packages: readonly string[],
): Promise<LicenseFile[]> {
  const own = { name: 'fairlead', bytes: await readFile(join(root, 'LICENSE')) };
  const copies = packages.map(async (name) => {
    const folder = join(root, 'node_modules', name);
    const found = (await readdir(folder)).filter((file) => /^licen[cs]e/i.test(file)).sort();
    return await Promise.all(
      found.map(async (file) => ({
        name: `${name}/${file}`,
        bytes: await readFile(join(folder, file)),
      })),
    );
  });
  return [...(await Promise.all(copies)).flat(), own];
}
