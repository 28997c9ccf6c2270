import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BpfError } from './bpf-error.ts';
import type { BpfObject } from './bpf-object.ts';
import { parseObject } from './parse-object.ts';

/** The programs in the package. Those for sockets are in both modes, and declare all maps. */
export const SOCKET_PROGRAMS = 'sock.bpf.o';
export const PACKET_PROGRAMS = 'tc.bpf.o';
/** For `explain`: packets that the kernel drops. */
export const DROP_PROGRAMS = 'drop.bpf.o';

/** Beside the program as it is shipped; from source, where `npm run bpf` writes them. */
const FOLDERS = ['./bpf/', '../../../dist/bpf/'];

export function readPrograms(name: string): BpfObject {
  const paths = FOLDERS.map((folder) =>
    fileURLToPath(new URL(`${folder}${name}`, import.meta.url)),
  );
  const path = paths.find((candidate) => existsSync(candidate));
  if (path !== undefined) return parseObject(readFileSync(path));
  throw new BpfError('BPF_OBJECT_MISSING', `compiled eBPF programs not found: ${paths.join(', ')}`);
}
