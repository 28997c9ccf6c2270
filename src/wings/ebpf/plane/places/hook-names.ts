import { CGROUP_ATTACH_TYPE } from '../../../../linux/ebpf/program-kind.ts';

/** Hooks that have a program of ours; it has the same name in bpf/sock.bpf.c. */
export const HOOK_NAMES = [
  'connect4',
  'connect6',
  'sendmsg4',
  'sendmsg6',
  'recvmsg4',
  'recvmsg6',
  'getpeername4',
  'getpeername6',
] as const;

export type HookName = (typeof HOOK_NAMES)[number];

export function attachTypeOf(name: HookName): number {
  return CGROUP_ATTACH_TYPE[name];
}

/** The name of a hook for people. */
export function hookText(name: HookName): string {
  return `ebpf hook ${name}`;
}
