import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SYSCTL_STATE } from '../../config/run-folder.ts';
import { TIME_WAIT_REUSE } from '../../linux/needed-sysctl.ts';
import type { Sysctls } from '../../linux/sysctl.ts';
import { sysctlError } from '../../linux/sysctl-error.ts';
import { restoreSysctls } from '../../linux/sysctl-state.ts';
import { asksForLocalhost, localhostServer, setNeededSysctl } from './machine.ts';

describe('settings of the machine', () => {
  let runFolder: string;
  before(async () => {
    runFolder = await mkdtemp(join(tmpdir(), 'fairlead-machine-'));
  });
  after(() => rm(runFolder, { recursive: true }));

  function context(sysctls: Sysctls) {
    const lines: string[] = [];
    const line = (level: string) => (_: object, message: string) =>
      void lines.push(`${level} ${message}`);
    const log = { info: line('info'), warn: line('warn') } as never;
    return { lines, of: { log, runFolder, sysctls } };
  }

  it('logs once that the sysctl cannot be written, and continues', async () => {
    const readOnly = Object.assign(new Error('read-only'), { code: 'EROFS' });
    const { lines, of } = context({
      read: () => '0',
      write: (name) => {
        throw sysctlError(`set ${name}`, readOnly);
      },
    });
    const serve = localhostServer(of);
    await serve();
    await serve();
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^warn node ports are not served on 127\.0\.0\.1: .*EROFS/);
  });

  it('rejects on any other failure', async () => {
    const { of } = context({
      read: () => '0',
      write: () => {
        throw new TypeError('a mistake');
      },
    });
    await assert.rejects(localhostServer(of)(), TypeError);
  });

  it('sets what a mode needs, and cleanup restores it', async () => {
    const values = new Map([[TIME_WAIT_REUSE.name, '2']]);
    const { lines, of } = context({
      read: (name) => values.get(name) ?? '',
      write: (name, after) => {
        const before = values.get(name) ?? '';
        values.set(name, after);
        return before === after ? undefined : { name, before, after };
      },
    });
    for (let start = 0; start < 2; start++) await setNeededSysctl(TIME_WAIT_REUSE, of);
    assert.deepEqual([lines, [...values.values()]], [['info set sysctl'], ['1']]);
    await restoreSysctls(of.sysctls, join(runFolder, SYSCTL_STATE));
    assert.deepEqual([...values.values()], ['2']);
  });

  it('logs what does not work without a sysctl that a mode needs', async () => {
    const readOnly = Object.assign(new Error('read-only'), { code: 'EROFS' });
    const { lines, of } = context({
      read: () => '2',
      write: (name) => {
        throw sysctlError(`set ${name}`, readOnly);
      },
    });
    await setNeededSysctl(TIME_WAIT_REUSE, of);
    assert.match(lines.join(), /^warn an endpoint can get at most 28,000 .*tcp_tw_reuse.*EROFS/);
  });

  it('keeps the earlier value of the sysctl', async () => {
    const { lines, of } = context({
      read: () => '0',
      write: (name, after) => ({ name, before: '0', after }),
    });
    await localhostServer(of)();
    assert.deepEqual(lines, ['info set sysctl']);
    assert.match(await readFile(join(runFolder, SYSCTL_STATE), 'utf8'), /route_localnet/);
  });

  it('are requested by all addresses, or by a range that contains 127.0.0.1', () => {
    const asks = (addresses: 'all' | string[], onLocalhost = true) =>
      asksForLocalhost({ addresses, onLocalhost });
    assert.equal(asks('all'), true);
    assert.equal(asks(['127.0.0.0/8', '10.0.0.0/8']), true);
    // A family without a range is served on all of its addresses.
    assert.equal(asks(['fd00::/8']), true);
    assert.equal(asks(['10.0.0.0/8']), false);
    assert.equal(asks(['primary']), false);
    assert.equal(asks(['primary', '127.0.0.0/8', '::1/128']), true);
    assert.equal(asks(['primary', '0.0.0.0/0']), true);
    assert.equal(asks('all', false), false);
  });
});
