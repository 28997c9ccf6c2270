import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BpfObject } from '../../../linux/bpf/object.ts';
import { parseObject } from '../../../linux/bpf/parse-object.ts';
import { type OwnPlace, ownPlace } from '../../../linux/bpf/testing/own-place.ts';
import { enterOwnNetwork } from '../../../linux/netlink/testing/own-namespace.ts';
import { netnsCookie } from '../../../linux/netns-cookie.ts';
import { SocketHooksPlane } from '../plane.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const DEADLINE_MS = 120_000;

/** A control group, pins and a network that nobody else uses, for planes made one after another. */
export interface TestPlace extends OwnPlace {
  readonly object: BpfObject;
  newPlane(): SocketHooksPlane;
  /** Runs a script of Node's inside the group; gives what it printed. */
  inGroup(script: string): Promise<string>;
}

export function testPlace(name: string): TestPlace {
  const place = ownPlace(name);
  enterOwnNetwork();
  const object = compiledObject();
  const hostCookie = netnsCookie();
  return {
    ...place,
    object,
    newPlane: () =>
      new SocketHooksPlane({
        readObject: () => object,
        cgroupPath: () => place.cgroup,
        pinFolder: join(place.pins, 'fairlead'),
        preparePins: () => undefined,
        hostCookie: () => hostCookie,
      }),
    async inGroup(script) {
      const enter = `echo $$ > ${place.cgroup}/cgroup.procs && exec "$0" -e "$1"`;
      const argv = ['-c', enter, process.execPath, script];
      const { stdout } = await promisify(execFile)('sh', argv, { timeout: DEADLINE_MS });
      return stdout.trim();
    },
  };
}

export function compiledObject(): BpfObject {
  const args = [join(ROOT, 'tools/bpf.ts'), join(ROOT, 'bpf/sock.bpf.c')];
  execFileSync(process.execPath, args, { cwd: ROOT, timeout: DEADLINE_MS, stdio: 'pipe' });
  return parseObject(readFileSync(join(ROOT, 'dist/bpf/sock.bpf.o')));
}
