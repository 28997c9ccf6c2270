import assert from 'node:assert/strict';
import { closeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import koffi from 'koffi';
import { type NotifyError, ServiceManager, sendNotification } from './notify-service-manager.ts';

// The other end, as systemd has it: a real datagram socket of the kernel.
const libc = koffi.load('libc.so.6');
const socket = libc.func('int socket(int family, int type, int protocol)');
const bind = libc.func('int bind(int fd, void *address, unsigned int length)');
const recv = libc.func('long recv(int fd, void *bytes, unsigned long size, int flags)');
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;

interface Receiver {
  /** The datagrams that have come, in order. */
  received(): string[];
}

/** A datagram to a unix socket is there when the call that sends it returns: no need to wait. */
function receiver(t: TestContext, path: string): Receiver {
  const fd = Number(socket(AF_UNIX, SOCK_DGRAM, 0));
  assert.ok(fd >= 0);
  t.after(() => closeSync(fd));
  const name = Buffer.from(path.startsWith('@') ? `\0${path.slice(1)}` : `${path}\0`);
  const address = Buffer.concat([Buffer.from([AF_UNIX, 0]), name]);
  assert.equal(bind(fd, address, address.length), 0);
  return {
    received: () => {
      const messages: string[] = [];
      for (;;) {
        const bytes = Buffer.alloc(4096);
        const size = Number(recv(fd, bytes, bytes.length, MSG_DONTWAIT));
        if (size < 0) return messages;
        messages.push(bytes.toString('utf8', 0, size));
      }
    },
  };
}

async function socketPath(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-notify-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'notify');
}

function manager(env: Record<string, string>, problems: NotifyError[] = []): ServiceManager {
  return new ServiceManager({ env, onProblem: (problem) => problems.push(problem) });
}

describe('a notification', () => {
  it('arrives at a socket in the file system', async (t) => {
    const path = await socketPath(t);
    const { received } = receiver(t, path);
    sendNotification(path, ['READY=1', 'STATUS=all is well']);
    assert.deepEqual(received(), ['READY=1\nSTATUS=all is well']);
  });

  it('arrives at an abstract socket', (t) => {
    const path = `@fairlead-notify-test-${process.pid}`;
    const { received } = receiver(t, path);
    sendNotification(path, ['STOPPING=1']);
    assert.deepEqual(received(), ['STOPPING=1']);
  });

  it('fails with the reason when there is no receiver, without waiting', async (t) => {
    const path = await socketPath(t);
    assert.throws(() => sendNotification(path, ['READY=1']), { code: 'ENOENT' });
    assert.throws(() => sendNotification('vsock:2:1234', ['READY=1']), { code: 'EAFNOSUPPORT' });
    assert.throws(() => sendNotification(`/${'x'.repeat(108)}`, []), { code: 'ENAMETOOLONG' });
    receiver(t, path);
    assert.throws(
      () => {
        // More than the queue of a socket holds.
        for (let count = 0; count < 10_000; count++) sendNotification(path, ['WATCHDOG=1']);
      },
      { code: 'EAGAIN' },
    );
  });
});

describe('the service manager', () => {
  it('receives the state', async (t) => {
    const path = await socketPath(t);
    const { received } = receiver(t, path);
    const told = manager({ NOTIFY_SOCKET: path });
    told.ready('two\nlines');
    told.stopping();
    assert.deepEqual(received(), ['READY=1\nSTATUS=two lines', 'STOPPING=1']);
  });

  it('may be missing', async (t) => {
    const problems: NotifyError[] = [];
    manager({}, problems).ready('');
    assert.deepEqual(problems, []);
    manager({ NOTIFY_SOCKET: await socketPath(t) }, problems).ready('');
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['ENOENT'],
    );
  });

  it('sends watchdog messages at half of WATCHDOG_USEC, if WATCHDOG_PID is this process', () => {
    const interval = (env: Record<string, string>) => manager(env).watchdogIntervalMs;
    assert.equal(interval({ WATCHDOG_USEC: '3000000' }), 1_500);
    assert.equal(interval({ WATCHDOG_USEC: '3000000', WATCHDOG_PID: String(process.pid) }), 1_500);
    assert.equal(interval({ WATCHDOG_USEC: '3000000', WATCHDOG_PID: '1' }), undefined);
    assert.equal(interval({ WATCHDOG_USEC: '0' }), undefined);
    assert.equal(interval({ WATCHDOG_USEC: 'soon' }), undefined);
    assert.equal(interval({}), undefined);
  });

  it('gets watchdog messages only while the process is alive', async (t) => {
    const path = await socketPath(t);
    const { received } = receiver(t, path);
    const stop = new AbortController();
    const answers = [true, false, true];
    const isAlive = (): boolean => {
      const answer = answers.shift() ?? false;
      if (answers.length === 0) stop.abort();
      return answer;
    };
    const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: '2000' };
    await manager(env).runWatchdog(isAlive, stop.signal);
    assert.deepEqual(received(), ['WATCHDOG=1', 'WATCHDOG=1']);
  });
});
