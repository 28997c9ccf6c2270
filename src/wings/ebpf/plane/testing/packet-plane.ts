import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  DataPlane,
  Inspection,
  InspectionDepth,
  NodeFacts,
} from '../../../../dataplanes/contract.ts';
import { change } from '../../../../dataplanes/shared/testing/change.ts';
import { type Forwarding, servicePortKey } from '../../../../forwarding/model.ts';
import type { BpfObject } from '../../../../linux/bpf/object.ts';
import { parseObject } from '../../../../linux/bpf/parse-object.ts';
import { netnsCookie } from '../../../../linux/ebpf/netns-cookie.ts';
import { watchLinks } from '../../../../linux/ebpf/watch-links.ts';
import { run } from '../../../../linux/netlink/testing/own-namespace.ts';
import { listLinks } from '../../../../linux/route/list-links.ts';
import type { HooksOptions, PacketOptions } from '../options.ts';
import { HooksPlane } from '../plane.ts';
import { NODE_FACTS } from './node-network.ts';

const ROOT = join(import.meta.dirname, '../../../../..');

interface Place {
  readonly cgroup: string;
  readonly pins: string;
}

/** Only the programs of mode tc-ebpf: nothing serves what they do not. */
export function packetPlane(place: Place, of: Partial<PacketOptions> = {}): HooksPlane {
  const packets = compiledProgram('tc');
  return new HooksPlane({
    ...socketOptions(place),
    packets: {
      readObject: () => packets,
      interfaces: [],
      listLinks,
      watchLinks: (onChange, signal) => watchLinks(onChange, signal, { settleMs: 0 }),
      ...of,
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

export function compiledProgram(name: 'sock' | 'tc'): BpfObject {
  run([process.execPath, join(ROOT, 'tools/bpf.ts'), join(ROOT, `bpf/${name}.bpf.c`)]);
  return parseObject(readFileSync(join(ROOT, `dist/bpf/${name}.bpf.o`)));
}

/** From whatever is there to these rows. */
export async function bring(
  plane: DataPlane,
  rows: readonly Forwarding[],
  of: { readonly facts?: NodeFacts; readonly depth?: InspectionDepth } = {},
): Promise<Inspection> {
  const { facts = NODE_FACTS, depth = 'everything' } = of;
  const inspection = await plane.inspect({ facts, rows }, depth);
  const wrong = rows.filter(({ id }) => !inspection.right.has(servicePortKey(id)));
  await plane.apply(wrong.map((row) => change('unknown', row)));
  return inspection;
}

/** How many connections the plane has counted, of all endpoints. */
export async function connectionsOf(plane: DataPlane): Promise<number> {
  const counts = await plane.counters();
  return counts.reduce((sum, { connections }) => sum + connections, 0);
}
