import { Attr } from './attr.ts';
import { Command } from './bpf-constants.ts';
import { succeeded } from './bpf-error.ts';
import { BpfLink, type Direction, tcxAttachType } from './bpf-link.ts';
import { type BpfProgram, programOf } from './bpf-program.ts';
import type { BpfMap } from './map.ts';
import { mapOf } from './map-create.ts';
import { bpf, Errno } from './system-call.ts';

/** Most programs at one hook; the kernel allows 64. */
const MOST_ATTACHED = 64;

const KINDS = {
  program: { next: Command.programNextId, open: Command.programById },
  map: { next: Command.mapNextId, open: Command.mapById },
  link: { next: Command.linkNextId, open: Command.linkById },
} as const;

export type ObjectKind = keyof typeof KINDS;

/** Ids of all objects of this kind in the kernel, of any process, in order. */
export function listIds(kind: ObjectKind): number[] {
  const ids: number[] = [];
  const attr = new Attr();
  for (let id = 0; ; id = attr.readU32(4)) {
    const result = bpf(KINDS[kind].next, attr.u32(0, id));
    if (result === -Errno.ENOENT) return ids;
    succeeded(`list every ${kind}`, result);
    ids.push(attr.readU32(4));
  }
}

/** Undefined: it has gone, or is only being made. */
export function openMapById(id: number): BpfMap | undefined {
  return openById('map', id, mapOf);
}

export function openProgramById(id: number): BpfProgram | undefined {
  return openById('program', id, programOf);
}

export function openLinkById(id: number): BpfLink | undefined {
  return openById('link', id, (fd) => new BpfLink(fd));
}

function openById<T>(kind: ObjectKind, id: number, make: (fd: number) => T): T | undefined {
  const result = bpf(KINDS[kind].open, new Attr().u32(0, id));
  // Attaching a program takes some ten milliseconds, during which the link has its id already.
  if (result === -Errno.ENOENT || result === -Errno.EAGAIN) return undefined;
  return make(succeeded(`open the ${kind} ${id}`, result));
}

/** The ids of programs attached to this very group, in the order in which they run. */
export function programsOnCgroup(cgroupFd: number, attachType: number): number[] {
  return query('a cgroup', { target: cgroupFd, attachType }).programs;
}

export interface TcxPrograms {
  readonly programs: readonly number[];
  /** The link of each; 0 for one that was attached without. */
  readonly links: readonly number[];
}

export function programsOnDevice(ifindex: number, direction: Direction): TcxPrograms {
  const attachType = tcxAttachType(direction);
  return query(`interface ${ifindex}`, { target: ifindex, attachType, withLinks: true });
}

function query(
  where: string,
  about: { readonly target: number; readonly attachType: number; readonly withLinks?: boolean },
): { programs: number[]; links: number[] } {
  const programs = Buffer.alloc(MOST_ATTACHED * 4);
  const links = Buffer.alloc(MOST_ATTACHED * 4);
  const attr = new Attr().u32(0, about.target).u32(4, about.attachType);
  attr.pointer(16, programs).u32(24, MOST_ATTACHED);
  if (about.withLinks) attr.pointer(40, links);
  const result = bpf(Command.programQuery, attr);
  // A device to which no program was ever attached has no list.
  if (result === -Errno.ENOENT) return { programs: [], links: [] };
  succeeded(`query the programs attached to ${where}`, result);
  const count = attr.readU32(24);
  const read = (from: Buffer): number[] =>
    Array.from({ length: count }, (_, at) => from.readUInt32LE(at * 4));
  return { programs: read(programs), links: read(links) };
}
