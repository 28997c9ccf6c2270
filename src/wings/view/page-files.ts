import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

/** A file of the page, as it is served. */
export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  ts: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
};
const SERVED = /^[a-z0-9-]+\.(html|css|ts|svg|png)$/;
const INDEX = 'index.html';

export interface PageFolder {
  readonly path: string;
  /** Whether its scripts have types: a package ships them without. */
  readonly hasTypes: boolean;
}

/** In the sources beside this file; in a package `view/` beside the program. Undefined: neither. */
export function pageFolder(): PageFolder | undefined {
  const places: readonly PageFolder[] = [
    { path: join(import.meta.dirname, 'page'), hasTypes: true },
    { path: join(import.meta.dirname, 'view'), hasTypes: false },
  ];
  return places.find(({ path }) => existsSync(join(path, INDEX)));
}

/** Every file by its path. Read once: a request names one of these, and never a file. */
export function readPageFiles({ path, hasTypes }: PageFolder): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const name of readdirSync(path).sort()) {
    const type = TYPES[SERVED.exec(name)?.[1] ?? ''];
    if (type === undefined) continue;
    const body = readFileSync(join(path, name));
    const isTyped = hasTypes && name.endsWith('.ts');
    const served = isTyped ? Buffer.from(stripTypeScriptTypes(body.toString('utf8'))) : body;
    files.set(name === INDEX ? '/' : `/${name}`, { type, body: served });
  }
  return files;
}
