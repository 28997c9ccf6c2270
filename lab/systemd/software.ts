import { cp, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bundleFairlead } from '../real/proxies/fairlead.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
/** Where Node is in the machine: bound there, not copied. */
export const NODE_PROGRAM = '/usr/local/bin/node';
const PACKAGE = 'usr/local/lib/node_modules/fairlead';
const PROGRAM = 'fairlead.mjs';

/**
 * Fairlead of this checkout where `npm install --global` of its package puts it, without the
 * programs for the kernel: modes with eBPF are not for this machine.
 */
export async function installFairlead(root: string, signal?: AbortSignal): Promise<void> {
  const folder = join(root, PACKAGE);
  await bundleFairlead(join(folder, PROGRAM), signal);
  for (const name of ['koffi', `@koromix/koffi-linux-${process.arch}`]) {
    const target = join(folder, 'node_modules', name);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(CHECKOUT, 'node_modules', name), target, { recursive: true, dereference: true });
  }
  await mkdir(join(root, 'usr/local/bin'), { recursive: true });
  await symlink(join('/', PACKAGE, PROGRAM), join(root, 'usr/local/bin/fairlead'));
}
