import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError } from '../../lab/host/errors.ts';
import type { SocketPlace } from '../../lab/proxies/contract.ts';

/**
 * Where the kernel rejects a program, Fairlead falls back to nftables and logs it: the
 * figures would be those of another mode.
 */
export async function assertHooked(place: SocketPlace | undefined): Promise<void> {
  if (place !== undefined && (await linksIn(place.pinFolder)).length > 0) return;
  throw new LabError('LAB_USAGE', 'the proxy has attached no programs to the kernel', {
    next: 'read its log in the folder of the lab; docs/ebpf.md lists the requirements',
  });
}

async function linksIn(pinFolder: string): Promise<string[]> {
  return await readdir(join(pinFolder, 'links')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
