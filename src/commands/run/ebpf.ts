import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasHooks } from '../../agent/node-facts.ts';
import type { Mode } from '../../config/modes.ts';
import type { EbpfSettings, Settings } from '../../config/settings.ts';
import type { HooksOptions, PacketOptions } from '../../dataplanes/ebpf/options.ts';
import { HooksPlane } from '../../dataplanes/ebpf/plane.ts';
import { SocketFlows } from '../../dataplanes/ebpf/socket-flows.ts';
import {
  cgroup2Root,
  findCgroup2Root,
  makePinFolder,
  releasePinFolder,
  unmountOwn,
} from '../../linux/bpf/folders.ts';
import type { BpfObject } from '../../linux/bpf/object.ts';
import { parseObject } from '../../linux/bpf/parse-object.ts';
import { assertMayLoad } from '../../linux/bpf/permission.ts';
import { netnsCookie } from '../../linux/netns-cookie.ts';
import { networkNamespaces } from '../../linux/network-namespaces.ts';
import { listLinks } from '../../linux/route/list-links.ts';
import { watchLinks } from '../../linux/route/watch-links.ts';
import { CommandError } from '../command-error.ts';
import { RUN_FOLDER } from './folder.ts';

/** For a machine that has groups of version 2 mounted nowhere. */
const OWN_CGROUPS = join(RUN_FOLDER, 'cgroup');
/** The programs in the package; those at sockets are in both modes. */
export const SOCKET_PROGRAMS = 'sock.bpf.o';
const PACKET_PROGRAMS = 'tc.bpf.o';

export const DEFAULT_EBPF: EbpfSettings = { pinFolder: '/sys/fs/bpf/fairlead' };

/**
 * Mounts the file systems that programs in the kernel need and the machine has not. Done beforehand
 * by a container that may: one without privileges would mount for itself alone, if at all.
 */
export function mountForPrograms(settings: Settings): void {
  if (!hasHooks(settings)) return;
  const { cgroupPath, pinFolder } = settings.ebpf;
  makePinFolder(pinFolder);
  if (cgroupPath === undefined) cgroup2Root(OWN_CGROUPS);
}

/** Where pods are met: when they connect, or by the packets that come in. */
export type PodsMet = 'at sockets' | 'as packets';

export function podsMetIn(mode: Mode): PodsMet {
  return mode === 'tc-ebpf' ? 'as packets' : 'at sockets';
}

export function hooksPlane(
  { cgroupPath, pinFolder, interfaces = [] }: EbpfSettings,
  podsMet: PodsMet,
  more: Pick<HooksOptions, 'openTables'> = {},
): HooksPlane {
  return new HooksPlane({
    ...more,
    readObject: () => {
      assertMayLoad();
      return readObject(SOCKET_PROGRAMS);
    },
    cgroupPath: () => cgroupPath ?? cgroup2Root(OWN_CGROUPS),
    findCgroup: () => cgroupPath ?? findCgroup2Root(OWN_CGROUPS),
    pinFolder,
    preparePins: () => makePinFolder(pinFolder),
    releasePins: () => {
      releasePinFolder(pinFolder);
      unmountOwn(OWN_CGROUPS);
    },
    hostCookie: netnsCookie,
    ...(podsMet === 'as packets' ? { packets: packetsAt(interfaces) } : {}),
  });
}

function packetsAt(interfaces: readonly string[]): PacketOptions {
  return {
    readObject: () => readObject(PACKET_PROGRAMS),
    interfaces,
    listLinks,
    // At once: until an interface has the program, the rules behind do its work.
    watchLinks: (onChange, signal) => watchLinks(onChange, signal, { settleMs: 0 }),
  };
}

export function socketFlows(
  { pinFolder }: EbpfSettings,
  onProblem: (error: unknown) => void,
): SocketFlows {
  return new SocketFlows({
    readObject: () => readObject(SOCKET_PROGRAMS),
    pinFolder,
    namespaces: networkNamespaces,
    onProblem,
  });
}

/** Beside the program as it is shipped; from source, where `npm run bpf` puts it. */
const FOLDERS = ['./bpf/', '../../../dist/bpf/'];

export function readObject(name: string): BpfObject {
  const paths = FOLDERS.map((folder) =>
    fileURLToPath(new URL(`${folder}${name}`, import.meta.url)),
  );
  const path = paths.find((candidate) => existsSync(candidate));
  if (path !== undefined) return parseObject(readFileSync(path));
  throw new CommandError(`the programs for the kernel are missing: ${paths.join(', ')}`, {
    code: 'BPF_OBJECT_MISSING',
    next: 'from source: npm run bpf; else install the package again, or use mode nftables',
  });
}
