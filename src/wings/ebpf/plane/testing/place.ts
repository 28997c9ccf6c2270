import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BpfObject } from '../../../../linux/bpf/object.ts';
import { parseObject } from '../../../../linux/bpf/parse-object.ts';
import { runInGroup } from '../../../../linux/bpf/testing/in-group.ts';
import { type OwnPlace, ownPlace } from '../../../../linux/bpf/testing/own-place.ts';
import { netnsCookie } from '../../../../linux/ebpf/netns-cookie.ts';
import { enterOwnNetwork, run } from '../../../../linux/netlink/testing/own-namespace.ts';
import type { OpenTables } from '../kernel.ts';
import { HooksPlane } from '../plane.ts';

const ROOT = join(import.meta.dirname, '../../../../..');

/**
 * A cgroup, pins and a network namespace that no other test uses, for planes created in sequence.
 */
export interface TestPlace extends OwnPlace {
  readonly object: BpfObject;
  newPlane(of?: PlaneParts): HooksPlane;
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
  const object = compiledObject();
  const hostCookie = netnsCookie();
  return {
    ...place,
    object,
    newPlane: (of = {}) =>
      new HooksPlane({
        readObject: () => of.object ?? object,
        cgroupPath: () => of.cgroup ?? place.cgroup,
        findCgroup: () => of.cgroup ?? place.cgroup,
        pinFolder: join(place.pins, of.folder ?? 'fairlead'),
        preparePins: () => undefined,
        releasePins: () => undefined,
        hostCookie: of.hostCookie ?? (() => hostCookie),
        ...(of.openTables ? { openTables: of.openTables } : {}),
      }),
    inGroup: (script) => runInGroup(place.cgroup, script),
  };
}

export function compiledObject(): BpfObject {
  run([process.execPath, join(ROOT, 'tools/bpf.ts'), join(ROOT, 'bpf/sock.bpf.c')]);
  return parseObject(readFileSync(join(ROOT, 'dist/bpf/sock.bpf.o')));
}
