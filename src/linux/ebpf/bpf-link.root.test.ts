import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync, unlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { enterOwnNetwork, ip, run } from '../netlink/testing/own-namespace.ts';
import { AttachType } from './bpf-constants.ts';
import { attachCgroup, attachTcx, openPinnedLink } from './bpf-link.ts';
import { openPinnedProgram } from './bpf-program.ts';
import {
  listIds,
  openLinkById,
  openMapById,
  openProgramById,
  programsOnCgroup,
  programsOnDevice,
} from './enumerate.ts';
import { loadObject } from './load-object.ts';
import { openPinnedMap } from './map-create.ts';
import { parseObject } from './parse-object.ts';
import { compiled } from './testing/compile-object.ts';
import { ownPlace } from './testing/own-place.ts';

const object = parseObject(compiled('connect'));
const place = ownPlace('link');
enterOwnNetwork();
after(() => place.leave());

/** The result of a connect inside the cgroup. */
async function connectFromGroup(address: string, port: number): Promise<string> {
  const script = `echo $$ > ${place.cgroup}/cgroup.procs && exec ${process.execPath} -e "
    require('net').connect(${port}, '${address}')
      .on('connect', function () { console.log('connected'); this.destroy(); })
      .on('error', (error) => console.log(error.code))"`;
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { timeout: 20_000 });
  return stdout.trim();
}

test('redirects and counts connects from a cgroup, rejects them after an update, detaches at the end', async () => {
  const loaded = loadObject(object, {
    programs: [{ name: 'connect4' }, { name: 'reject_all' }],
    variables: new Map([['answer', Uint8Array.of(100, 0, 0, 0)]]),
  });
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const [connect4, rejectAll] = [...loaded.programs.values()];
    const redirects = loaded.maps.get('redirects');
    assert.ok(connect4 && rejectAll && redirects);
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    redirects.update(row('10.96.0.1', 80, 6), row('127.0.0.1', address.port, 0));
    redirects.pin(join(place.pins, 'redirects'));
    const link = attachCgroup(connect4, {
      cgroupFd: place.cgroupFd,
      attachType: AttachType.cgroupConnect4,
    });
    link.pin(join(place.pins, 'link'));
    link.close();

    assert.equal(await connectFromGroup('10.96.0.1', 80), 'connected');
    const bss = loaded.maps.get('.bss')?.lookup(Buffer.alloc(4));
    assert.deepEqual([bss?.readUInt32LE(0), bss?.readUInt32LE(4)], [1, 2]);
    // 7 from the start, 100 given, and the callback's 0 + 1 + 2 + 3 + 4.
    assert.equal(loaded.maps.get('.data')?.lookup(Buffer.alloc(4))?.readUInt32LE(0), 117);

    const again = openPinnedLink(join(place.pins, 'link'));
    assert.deepEqual(again.info().target, {
      kind: 'cgroup',
      cgroupId: statSync(place.cgroup, { bigint: true }).ino,
      attachType: AttachType.cgroupConnect4,
    });
    assert.equal(again.info().programId, connect4.id);
    const attached = programsOnCgroup(place.cgroupFd, AttachType.cgroupConnect4);
    assert.deepEqual(attached, [connect4.id]);
    assert.ok(listIds('link').includes(again.info().id));
    const sameLink = openLinkById(again.info().id);
    assert.equal(sameLink?.info().programId, connect4.id);
    sameLink?.close();

    again.update(rejectAll);
    assert.equal(await connectFromGroup('10.96.0.1', 80), 'EPERM');
    again.detach();
    again.close();
    assert.deepEqual(programsOnCgroup(place.cgroupFd, AttachType.cgroupConnect4), []);

    connect4.pin(join(place.pins, 'program'));
    const program = openPinnedProgram(join(place.pins, 'program'));
    assert.deepEqual([program.id, program.tag], [connect4.id, connect4.tag]);
    program.close();
    const sameProgram = openProgramById(connect4.id);
    assert.equal(sameProgram?.name, 'connect4');
    sameProgram?.close();
    const sameMap = openMapById(redirects.id);
    assert.equal(sameMap?.name, 'redirects');
    sameMap?.close();

    const pinned = openPinnedMap(join(place.pins, 'redirects'));
    assert.equal(pinned.id, redirects.id);
    pinned.close();
    assert.equal(statSync(place.pins).mode & 0o777, 0o700);
    for (const pin of readdirSync(place.pins)) unlinkSync(join(place.pins, pin));
  } finally {
    server.close();
    loaded.close();
  }
});

test('attaches a program to a device, lists it there, and detaches it with its link', () => {
  ip('link add name fl0 type veth peer name fl1');
  const ifindex = Number(
    /^(\d+): fl0@/m.exec(run(['ip', 'link', 'show']))?.[1] ?? assert.fail('no device'),
  );
  const loaded = loadObject(object, { programs: [{ name: 'count_bytes' }] });
  try {
    const program = loaded.programs.get('count_bytes');
    assert.ok(program);
    const link = attachTcx(program, { ifindex, direction: 'ingress' });
    const { id, target } = link.info();
    assert.deepEqual(target, { kind: 'tcx', ifindex, attachType: AttachType.tcxIngress });
    const listed = programsOnDevice(ifindex, 'ingress');
    assert.deepEqual(listed, { programs: [program.id], links: [id] });
    assert.deepEqual(programsOnDevice(ifindex, 'egress').programs, []);
    link.close();
    assert.deepEqual(programsOnDevice(ifindex, 'ingress').programs, []);
  } finally {
    loaded.close();
  }
});

function row(address: string, port: number, last: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.set(address.split('.').map(Number));
  bytes.writeUInt16BE(port, 4);
  bytes.writeUInt16LE(last, 6);
  return bytes;
}
