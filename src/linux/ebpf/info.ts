import { Attr } from './attr.ts';
import { Command } from './bpf-constants.ts';
import { succeeded } from './bpf-error.ts';
import type { MapDefinition } from './map.ts';
import { bpf } from './system-call.ts';

const MOST_INFO_BYTES = 256;

export interface MapInfo extends MapDefinition {
  readonly id: number;
}

export interface ProgramInfo {
  readonly id: number;
  readonly type: number;
  readonly name: string;
  /** A hash of its instructions, as `bpftool` prints it. */
  readonly tag: string;
  readonly mapCount: number;
}

export type LinkTarget =
  | { readonly kind: 'cgroup'; readonly cgroupId: bigint; readonly attachType: number }
  | { readonly kind: 'tcx'; readonly ifindex: number; readonly attachType: number }
  | { readonly kind: 'iterator' }
  | { readonly kind: 'other'; readonly linkType: number };

export interface LinkInfo {
  readonly id: number;
  readonly programId: number;
  readonly target: LinkTarget;
}

const LinkType = { cgroup: 3, iterator: 4, tcx: 11 } as const;

export function mapInfo(fd: number): MapInfo {
  const info = readInfo('a map', fd);
  return {
    type: info.readUInt32LE(0),
    id: info.readUInt32LE(4),
    keySize: info.readUInt32LE(8),
    valueSize: info.readUInt32LE(12),
    maxEntries: info.readUInt32LE(16),
    flags: info.readUInt32LE(20),
    name: nameAt(info, 24),
  };
}

export function programInfo(fd: number): ProgramInfo {
  const info = readInfo('a program', fd);
  return {
    type: info.readUInt32LE(0),
    id: info.readUInt32LE(4),
    tag: info.toString('hex', 8, 16),
    mapCount: info.readUInt32LE(52),
    name: nameAt(info, 64),
  };
}

export function linkInfo(fd: number): LinkInfo {
  const info = readInfo('a link', fd);
  return {
    id: info.readUInt32LE(4),
    programId: info.readUInt32LE(8),
    target: targetOf(info),
  };
}

function targetOf(info: Buffer): LinkTarget {
  const linkType = info.readUInt32LE(0);
  switch (linkType) {
    case LinkType.cgroup:
      return {
        kind: 'cgroup',
        cgroupId: info.readBigUInt64LE(16),
        attachType: info.readUInt32LE(24),
      };
    case LinkType.tcx:
      // An ifindex of 0: the device is gone, and the link is detached.
      return { kind: 'tcx', ifindex: info.readUInt32LE(16), attachType: info.readUInt32LE(20) };
    case LinkType.iterator:
      return { kind: 'iterator' };
    default:
      return { kind: 'other', linkType };
  }
}

/** Larger than any kernel fills; fields that an older kernel lacks stay zero. */
export function readInfo(what: string, fd: number, into = Buffer.alloc(MOST_INFO_BYTES)): Buffer {
  const attr = new Attr().u32(0, fd).u32(4, into.length).pointer(8, into);
  succeeded(`query ${what}`, bpf(Command.objectInfo, attr));
  return into;
}

export function nameAt(bytes: Buffer, offset: number): string {
  const end = bytes.indexOf(0, offset);
  return bytes.toString('latin1', offset, end);
}
