import { AttachType } from '../../../linux/bpf/constants.ts';

/** The places in the kernel at which a program of the object of the same name runs. */
export const ATTACH_TYPE = {
  connect4: AttachType.cgroupConnect4,
  connect6: AttachType.cgroupConnect6,
  sendmsg4: AttachType.cgroupSendmsg4,
  sendmsg6: AttachType.cgroupSendmsg6,
  recvmsg4: AttachType.cgroupRecvmsg4,
  recvmsg6: AttachType.cgroupRecvmsg6,
  getpeername4: AttachType.cgroupGetpeername4,
  getpeername6: AttachType.cgroupGetpeername6,
} as const;

export type HookName = keyof typeof ATTACH_TYPE;

export const HOOK_NAMES = Object.keys(ATTACH_TYPE) as readonly HookName[];

/** What people know a hook by. */
export function hookText(name: HookName): string {
  return `ebpf hook ${name}`;
}
