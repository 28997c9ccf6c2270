import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ClusterError } from '../cluster-error.ts';
import { textAt } from '../json.ts';
import type { Entry } from './kubeconfig-file.ts';

/** Data that is inline in the kubeconfig, or in a file that may change. */
export type Material =
  | { readonly from: 'data'; readonly text: string }
  | { readonly from: 'file'; readonly path: string };

/** `name-data` takes precedence over `name`, as in client-go. */
export function materialAt(entry: Entry, name: string): Material | undefined {
  const data = textAt(entry.value, `${name}-data`);
  if (data !== '') return { from: 'data', text: Buffer.from(data, 'base64').toString('utf8') };
  return fileAt(entry, name);
}

export function fileAt(entry: Entry, name: string): Material | undefined {
  const path = textAt(entry.value, name);
  return path === '' ? undefined : { from: 'file', path: resolve(entry.folder, path) };
}

export async function readMaterial(material: Material, what: string): Promise<string> {
  if (material.from === 'data') return material.text;
  try {
    return await readFile(material.path, 'utf8');
  } catch (error) {
    throw new ClusterError('CREDENTIALS_UNREADABLE', `cannot read ${what} ${material.path}`, {
      next: 'check that the file exists and that this user may read it',
      cause: error,
    });
  }
}
