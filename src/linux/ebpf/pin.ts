import { Attr } from './attr.ts';
import { Command } from './bpf-constants.ts';
import { succeeded } from './bpf-error.ts';
import { bpf } from './system-call.ts';

/** Gives an object a name in a bpf file system, where it outlives us. */
export function pinDescriptor(
  what: string,
  { fd, path }: { readonly fd: number; readonly path: string },
): void {
  const attr = new Attr().text(0, path).u32(8, fd);
  succeeded(`pin ${what} at ${path}`, bpf(Command.objectPin, attr));
}

/** Opens a pin; returns a new descriptor. */
export function openPin(what: string, path: string): number {
  return succeeded(`open ${what} at ${path}`, bpf(Command.objectGet, new Attr().text(0, path)));
}
