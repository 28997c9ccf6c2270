import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { test } from 'node:test';
import { enterOwnNetwork } from '../netlink/testing/own-namespace.ts';
import { runIterator } from './iterator.ts';
import { type LoadedObject, loadObject } from './load-object.ts';
import { parseObject } from './parse-object.ts';
import { compiled } from './testing/compile-object.ts';

const PORT = 5353;
const object = parseObject(compiled('sockets'));
enterOwnNetwork();

function load(): LoadedObject {
  const port = Buffer.alloc(2);
  port.writeUInt16BE(PORT);
  return loadObject(object, {
    programs: [{ name: 'end_udp' }],
    variables: new Map([['port', port]]),
  });
}

function counts(loaded: LoadedObject): { seen: number; destroyed: number } {
  const values = loaded.maps.get('.bss')?.lookup(Buffer.alloc(4));
  const at = (name: string): number => {
    const offset = object.data.find((one) => one.name === '.bss')?.variables.get(name)?.offset;
    return values?.readUInt32LE(offset) ?? Number.NaN;
  };
  return { seen: at('seen'), destroyed: at('destroyed') };
}

async function connected(port: number): Promise<dgram.Socket> {
  const socket = dgram.createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

test('iterates the sockets of this network namespace and destroys one', async (t) => {
  const loaded = load();
  const [ended, kept] = [await connected(PORT), await connected(PORT + 1)];
  try {
    const failed = once(ended, 'error');
    const program = loaded.programs.get('end_udp');
    assert.ok(program);
    await runIterator(program, { signal: t.signal });
    assert.deepEqual(counts(loaded), { seen: 2, destroyed: 1 });
    const [error] = await failed;
    assert.equal(error.code, 'ECONNABORTED');
    assert.equal(kept.remoteAddress().port, PORT + 1);
  } finally {
    ended.close();
    kept.close();
    loaded.close();
  }
});

test('iterates the sockets of another network namespace, without ours', async (t) => {
  const loaded = load();
  const ours = await connected(PORT);
  const home = readlinkSync('/proc/thread-self/ns/net');
  const script = `
    const socket = require('dgram').createSocket('udp4');
    socket.on('error', (error) => { console.log(error.code); socket.close(); });
    socket.connect(${PORT}, '127.0.0.1', () => console.log('ready'));`;
  const setUp = `exec unshare -n sh -c 'ip link set lo up && exec "$0" -e "$1"' "$0" "$1"`;
  const child = spawn('sh', ['-c', setUp, process.execPath, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  try {
    const [ready] = await once(child.stdout, 'data');
    assert.equal(String(ready), 'ready\n');
    const told = once(child.stdout, 'data');
    const program = loaded.programs.get('end_udp');
    assert.ok(program);
    await runIterator(program, {
      networkNamespace: `/proc/${child.pid}/ns/net`,
      signal: t.signal,
    });
    assert.deepEqual(counts(loaded), { seen: 1, destroyed: 1 });
    assert.equal(String((await told)[0]), 'ECONNABORTED\n');
    assert.equal(readlinkSync('/proc/thread-self/ns/net'), home);
  } finally {
    child.kill();
    await exited;
    ours.close();
    loaded.close();
  }
});
