import { arch } from 'node:os';
import { join } from 'node:path';

export interface ToyProgram {
  /** A file of this folder without `.bpf.c`. */
  readonly name: string;
  readonly folder: string;
  readonly clusterIp: string;
  readonly podIp: string;
}

const HEADERS: Readonly<Record<string, string>> = {
  x64: '/usr/include/x86_64-linux-gnu',
  arm64: '/usr/include/aarch64-linux-gnu',
};

/** The command that compiles a toy for one Service and one pod, and where it puts the object. */
export function compileCommand(toy: ToyProgram): { command: string; object: string } {
  const object = join(toy.folder, `${toy.name}.o`);
  const constants = `-DCLUSTER_IP=${networkOrder(toy.clusterIp)} -DPOD_IP=${networkOrder(toy.podIp)}`;
  const flags = `-O2 -g -target bpf -I${HEADERS[arch()] ?? '/usr/include'} ${constants}`;
  return { object, command: `clang ${flags} -c lab/tour/toys/${toy.name}.bpf.c -o ${object}` };
}

/** As a little-endian machine reads the four bytes of the packet. */
function networkOrder(address: string): string {
  const bytes = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  return `0x${bytes.toReversed().join('')}`;
}
