import { AttachType, ProgramType } from './bpf-constants.ts';
import { BpfError } from './bpf-error.ts';

export interface ProgramKind {
  readonly type: number;
  readonly expectedAttachType: number;
  /** The function of the kernel that stands for the place it attaches to, for tracing programs. */
  readonly attachFunction?: string;
  /** The tracepoint that it attaches to. */
  readonly tracepoint?: string;
}

/** Hooks of a control group at its sockets, by the names that sections have them. */
export const CGROUP_ATTACH_TYPE = {
  connect4: AttachType.cgroupConnect4,
  connect6: AttachType.cgroupConnect6,
  sendmsg4: AttachType.cgroupSendmsg4,
  sendmsg6: AttachType.cgroupSendmsg6,
  recvmsg4: AttachType.cgroupRecvmsg4,
  recvmsg6: AttachType.cgroupRecvmsg6,
  getpeername4: AttachType.cgroupGetpeername4,
  getpeername6: AttachType.cgroupGetpeername6,
  getsockname4: AttachType.cgroupGetsockname4,
  getsockname6: AttachType.cgroupGetsockname6,
} as const;

const CGROUP: ReadonlyMap<string, number> = new Map(Object.entries(CGROUP_ATTACH_TYPE));

/** Program type by section name, as in libbpf. */
export function kindOfSection(section: string): ProgramKind {
  const [family = '', name = ''] = section.split('/', 2);
  const cgroup = family === 'cgroup' ? CGROUP.get(name) : undefined;
  if (cgroup !== undefined) {
    return { type: ProgramType.cgroupSocketAddress, expectedAttachType: cgroup };
  }
  if (family === 'tc' || family === 'tcx') return { type: ProgramType.tc, expectedAttachType: 0 };
  if (family === 'socket') return { type: ProgramType.socketFilter, expectedAttachType: 0 };
  if (family === 'iter' && name !== '') {
    return {
      type: ProgramType.tracing,
      expectedAttachType: AttachType.iterator,
      attachFunction: `bpf_iter_${name}`,
    };
  }
  if (family === 'tp_btf' && name !== '') {
    return {
      type: ProgramType.tracing,
      expectedAttachType: AttachType.tracepoint,
      tracepoint: name,
    };
  }
  throw new BpfError('BPF_OBJECT_INVALID', `section ${section} is not a supported program type`);
}
