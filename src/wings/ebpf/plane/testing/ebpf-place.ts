import { join } from 'node:path';
import type { BpfObject } from '../../../../linux/ebpf/bpf-object.ts';
import { netnsCookie } from '../../../../linux/ebpf/netns-cookie.ts';
import { compiledProgram } from '../../../../linux/ebpf/testing/compiled-program.ts';
import { runInGroup } from '../../../../linux/ebpf/testing/in-group.ts';
import { type OwnPlace, ownPlace } from '../../../../linux/ebpf/testing/own-place.ts';
import { enterOwnNetwork } from '../../../../linux/netlink/testing/own-namespace.ts';
import type { OpenTables } from '../ebpf-kernel.ts';
import { HooksPlane } from '../hooks-plane.ts';

/**
 * A cgroup, pins and a network namespace that no other test uses, for planes created in sequence.
 */
export interface TestPlace extends OwnPlace {
  readonly object: BpfObject;
  newPlane(parts?: PlaneParts): HooksPlane;
  /** Runs a script of Node's inside the group; gives what it printed. */
  inGroup(script: string): Promise<string>;
}

/** Options that differ for one plane. */
export interface PlaneParts {
  /** The name of the folder with its pins. */
  readonly folder?: string;
  readonly object?: BpfObject;
  readonly cgroup?: string;
  readonly openTables?: OpenTables;
  readonly hostCookie?: () => bigint;
}

export function testPlace(name: string): TestPlace {
  const place = ownPlace(name);
  enterOwnNetwork();
  const object = compiledProgram('sock');
  const hostCookie = netnsCookie();
  return {
    ...place,
    object,
    newPlane: (parts = {}) =>
      new HooksPlane({
        readObject: () => parts.object ?? object,
        cgroupPath: () => parts.cgroup ?? place.cgroup,
        findCgroup: () => parts.cgroup ?? place.cgroup,
        pinFolder: join(place.pins, parts.folder ?? 'fairlead'),
        preparePins: () => undefined,
        releasePins: () => undefined,
        hostCookie: parts.hostCookie ?? (() => hostCookie),
        ...(parts.openTables ? { openTables: parts.openTables } : {}),
      }),
    inGroup: (script) => runInGroup(place.cgroup, script),
  };
}
