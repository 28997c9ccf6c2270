import { join } from 'node:path';
import { netnsCookie } from '../../../../linux/ebpf/netns-cookie.ts';
import { compiledProgram } from '../../../../linux/ebpf/testing/compiled-program.ts';
import { listLinks, watchLinks } from '../../../../linux/route/watch-links.ts';
import type { HooksOptions, PacketOptions } from '../ebpf-options.ts';
import { HooksPlane } from '../hooks-plane.ts';

interface Place {
  readonly cgroup: string;
  readonly pins: string;
}

/** Only the programs of mode tc-ebpf: nothing serves what they do not. */
export function packetPlane(place: Place, options: Partial<PacketOptions> = {}): HooksPlane {
  const packets = compiledProgram('tc');
  return new HooksPlane({
    ...socketOptions(place),
    packets: {
      readObject: () => packets,
      interfaces: [],
      listLinks,
      watchLinks: (onChange, signal) => watchLinks(onChange, signal, { settleMs: 0 }),
      ...options,
    },
  });
}

/** Those of mode socket-ebpf, at the same pins. */
export function socketPlane(place: Place): HooksPlane {
  return new HooksPlane(socketOptions(place));
}

function socketOptions({ cgroup, pins }: Place): HooksOptions {
  const sockets = compiledProgram('sock');
  const hostCookie = netnsCookie();
  return {
    readObject: () => sockets,
    cgroupPath: () => cgroup,
    findCgroup: () => cgroup,
    pinFolder: pinFolderOf(pins),
    preparePins: () => undefined,
    releasePins: () => undefined,
    hostCookie: () => hostCookie,
  };
}

export function pinFolderOf(pins: string): string {
  return join(pins, 'fairlead');
}
