import { Attr } from './attr.ts';
import { AttachType, Command } from './bpf-constants.ts';
import { succeeded } from './bpf-error.ts';
import type { BpfProgram } from './bpf-program.ts';
import { type LinkInfo, linkInfo } from './info.ts';
import { openPin, pinDescriptor } from './pin.ts';
import { bpf, closeDescriptor } from './system-call.ts';

/**
 * That a program is attached. It ends when the last descriptor and pin of it have gone, so a pin is
 * what keeps a program working while we are replaced.
 */
export class BpfLink {
  readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  /** Puts another program in place, with no moment in which neither runs. */
  update(program: BpfProgram): void {
    const attr = new Attr().u32(0, this.fd).u32(4, program.fd);
    succeeded(`replace the program of a link with ${program.name}`, bpf(Command.linkUpdate, attr));
  }

  info(): LinkInfo {
    return linkInfo(this.fd);
  }

  pin(path: string): void {
    pinDescriptor('a link', { fd: this.fd, path });
  }

  /** Detaches the program now, even if another process holds the link. */
  detach(): void {
    succeeded('detach a program', bpf(Command.linkDetach, new Attr().u32(0, this.fd)));
  }

  close(): void {
    closeDescriptor(this.fd);
  }
}

/** `cgroupFd`: descriptor of a cgroup v2 folder; applies to its processes and child cgroups. */
export function attachCgroup(
  program: BpfProgram,
  { cgroupFd, attachType }: { readonly cgroupFd: number; readonly attachType: number },
): BpfLink {
  const attr = new Attr().u32(0, program.fd).u32(4, cgroupFd).u32(8, attachType);
  return new BpfLink(
    succeeded(`attach ${program.name} to a cgroup`, bpf(Command.linkCreate, attr)),
  );
}

export type Direction = 'ingress' | 'egress';

/** Attaches to a device in the network namespace of the calling thread. Linux 6.6. */
export function attachTcx(
  program: BpfProgram,
  { ifindex, direction }: { readonly ifindex: number; readonly direction: Direction },
): BpfLink {
  const attachType = tcxAttachType(direction);
  const attr = new Attr().u32(0, program.fd).u32(4, ifindex).u32(8, attachType);
  const doing = `attach ${program.name} to the ${direction} of interface ${ifindex}`;
  return new BpfLink(succeeded(doing, bpf(Command.linkCreate, attr)));
}

export function tcxAttachType(direction: Direction): number {
  return direction === 'ingress' ? AttachType.tcxIngress : AttachType.tcxEgress;
}

export function openPinnedLink(path: string): BpfLink {
  return new BpfLink(openPin('a link', path));
}
