/** Numbers of include/uapi/linux/bpf.h. They are part of the kernel's promise to user space. */

export const Command = {
  mapCreate: 0,
  mapLookup: 1,
  mapUpdate: 2,
  mapDelete: 3,
  mapNextKey: 4,
  programLoad: 5,
  objectPin: 6,
  objectGet: 7,
  programTestRun: 10,
  programNextId: 11,
  mapNextId: 12,
  programById: 13,
  mapById: 14,
  objectInfo: 15,
  programQuery: 16,
  tracepointOpen: 17,
  btfLoad: 18,
  btfById: 19,
  mapLookupAndDelete: 21,
  mapFreeze: 22,
  btfNextId: 23,
  mapLookupBatch: 24,
  mapUpdateBatch: 26,
  mapDeleteBatch: 27,
  linkCreate: 28,
  linkUpdate: 29,
  linkById: 30,
  linkNextId: 31,
  iteratorCreate: 33,
  linkDetach: 34,
} as const;

export type CommandNumber = (typeof Command)[keyof typeof Command];

export const MapType = {
  hash: 1,
  array: 2,
  perCpuHash: 5,
  perCpuArray: 6,
  lruHash: 9,
  lruPerCpuHash: 10,
  lpmTrie: 11,
  queue: 22,
  socketStorage: 24,
} as const;

export const ProgramType = {
  socketFilter: 1,
  tc: 3,
  cgroupSocketAddress: 18,
  tracing: 26,
} as const;

export const AttachType = {
  cgroupConnect4: 10,
  cgroupConnect6: 11,
  cgroupSendmsg4: 14,
  cgroupSendmsg6: 15,
  cgroupRecvmsg4: 19,
  cgroupRecvmsg6: 20,
  tracepoint: 23,
  iterator: 28,
  cgroupGetpeername4: 29,
  cgroupGetpeername6: 30,
  cgroupGetsockname4: 31,
  cgroupGetsockname6: 32,
  tcxIngress: 46,
  tcxEgress: 47,
} as const;

export const MapFlag = {
  noPrealloc: 1 << 0,
  readOnlyForPrograms: 1 << 7,
} as const;

export const UpdateFlag = { any: 0, mustBeNew: 1, mustExist: 2 } as const;
