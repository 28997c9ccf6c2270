import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { ip, run } from '../../linux/netlink/testing/own-namespace.ts';
import { kernelSysctls } from '../../linux/sysctl.ts';
import { runDoctorChecks } from '../run-doctor-checks.ts';
import { subject } from '../testing/example-subject.ts';
import { CONNTRACK_LOSSES, CONNTRACK_ROOM } from './conntrack-checks.ts';

const MAX = 'net/netfilter/nf_conntrack_max';
const ROOM = 64;

/** The limit is that of the whole machine, so only a guest kernel is filled up. */
const isGuest = readFileSync('/proc/cpuinfo', 'utf8').includes('User Mode Linux');

it('names a full table and what was lost by it', async (t) => {
  if (!isGuest) {
    t.skip('nf_conntrack_max is a limit of the whole machine: run it with --kernel uml');
    return;
  }
  ip('link set lo up');
  run(['nft', 'add table ip doctor']);
  run(['nft', 'add chain ip doctor out { type filter hook output priority 0; }']);
  run(['nft', 'add rule ip doctor out ct state new counter']);
  const sysctls = kernelSysctls();
  const of = subject({ sysctls });
  const found = async (): Promise<string[]> =>
    (await runDoctorChecks([CONNTRACK_ROOM, CONNTRACK_LOSSES], of)).map(({ code }) => code);
  assert.deepEqual(await found(), ['OK', 'OK']);
  const change = sysctls.write(MAX, String(ROOM));
  t.after(() => change && sysctls.write(MAX, change.before));
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  // A full table drops what is sent: that is what is tested.
  const send = (port: number): Promise<void> =>
    new Promise((resolve) => socket.send('x', port, '127.0.0.1', () => resolve()));
  for (let port = 1; port <= 4 * ROOM; port++) await send(port);
  const codes = await found();
  assert.equal(codes[0], 'CONNTRACK_FULL');
  assert.ok(codes.includes('CONNTRACK_DROP'), codes.join());
});
