import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

export interface ShippedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const PAGE = 'src/wings/view/page';
/** Tests and settings of the compiler stay behind. */
const SHIPPED = /^[a-z0-9-]+\.(?:html|css|ts|svg|png)$/;

/** Where the program looks for the page: in a folder beside its own file. */
export const VIEW_FOLDER = 'view';

/** The page of `fairlead view`, with its scripts as a browser runs them: under their names, without types. */
export async function viewPage(root: string): Promise<ShippedFile[]> {
  const names = (await readdir(join(root, PAGE))).filter((name) => SHIPPED.test(name)).sort();
  return await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(root, PAGE, name));
      if (!name.endsWith('.ts')) return { name, bytes };
      return { name, bytes: Buffer.from(stripTypeScriptTypes(bytes.toString('utf8'))) };
    }),
  );
}
