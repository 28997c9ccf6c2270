import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import { IptablesError } from '../xtables/iptables-error.ts';
import { BACKENDS, type Backend } from '../xtables/iptables-programs.ts';
import { RestoreProcess } from './restore-process.ts';

beforeEach(enterOwnNetwork);

const folder = mkdtempSync(join(tmpdir(), 'fairlead-restore-'));
const LOCK = join(folder, 'xtables.lock');
before(() => {
  process.env['XTABLES_LOCKFILE'] = LOCK;
});
after(() => rmSync(folder, { recursive: true }));

const restore = (backend: Backend, commitDeadlineMs = 10_000): RestoreProcess =>
  new RestoreProcess({
    program: `/usr/sbin/xtables-${backend}-multi`,
    family: 'IPv4',
    lockSeconds: 1,
    commitDeadlineMs,
    idleMs: 10_000,
  });
const rulesOf = (backend: Backend): string =>
  run([`/usr/sbin/xtables-${backend}-multi`, 'iptables', '-t', 'nat', '-S']);
const block = (...lines: string[]): string[] => ['*nat', ...lines, 'COMMIT'];

for (const backend of BACKENDS) {
  describe(`a long-running process, on ${backend}`, () => {
    it('has each table in the kernel when it acknowledges it', async () => {
      using process_ = restore(backend);
      for (let number = 1; number <= 5; number++) {
        await process_.commit(block(`:MINE-${number} - [0:0]`));
        assert.match(rulesOf(backend), new RegExp(`^-N MINE-${number}$`, 'm'));
      }
    });

    it('names the rejected line, writes nothing of its table, and continues', async () => {
      using process_ = restore(backend);
      await process_.commit(block(':MINE - [0:0]'));
      const rejected = block('-A MINE -j RETURN', '-A MINE -d nonsense -j RETURN');
      await assert.rejects(process_.commit(rejected), (error) => {
        assert.ok(error instanceof IptablesError);
        assert.deepEqual([error.code, error.line], ['IPTABLES_REFUSED', 2]);
        return true;
      });
      assert.doesNotMatch(rulesOf(backend), /-A MINE/);
      await process_.commit(block('-A MINE -j ACCEPT'));
      assert.match(rulesOf(backend), /-A MINE -j ACCEPT/);
    });

    it('names the rule that the kernel did not have', async () => {
      using process_ = restore(backend);
      await process_.commit(block(':MINE - [0:0]'));
      const missing = block('-A MINE -j ACCEPT', '-D MINE -j RETURN');
      await assert.rejects(process_.commit(missing), { code: 'IPTABLES_REFUSED', line: 2 });
    });
  });
}

describe('the lock', () => {
  it('is waited for with a timeout, and not held between commits', async () => {
    using process_ = restore('legacy');
    await process_.commit(block(':MINE - [0:0]'));
    run(['flock', '-n', LOCK, 'true']);
    using other = new Holder();
    await other.held();
    await assert.rejects(process_.commit(block('-A MINE -j ACCEPT')), { code: 'IPTABLES_LOCKED' });
  });
});

it('counts an ended process as ours for a while, then no longer, because its pid is reused', async (t) => {
  using process_ = restore('nft');
  await process_.commit(block(':MINE - [0:0]'));
  const processId = Number(readdirSync('/proc').find((name) => process_.isOurs(Number(name))));
  assert.ok(processId > 0);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  process_[Symbol.dispose]();
  await turnsUntil('the process is gone', () => !existsSync(`/proc/${processId}`));
  assert.ok(process_.isOurs(processId), 'its last events may be on their way');
  await turnsUntil('it is forgotten', () => {
    t.mock.timers.tick(10_000);
    return !process_.isOurs(processId);
  });
});

async function turnsUntil(what: string, isTrue: () => boolean): Promise<void> {
  const late = AbortSignal.timeout(10_000);
  while (!isTrue()) {
    assert.ok(!late.aborted, what);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Another program of iptables that has begun and not ended its work. */
class Holder implements Disposable {
  readonly #process = restore('legacy');
  #ending: Promise<unknown> = Promise.resolve();

  /** Resolves when it has the lock. */
  async held(): Promise<void> {
    await this.#process.commit(block());
    // Without COMMIT it keeps the lock and never answers.
    this.#ending = this.#process.commit(['*nat']).catch((error: unknown) => error);
    await turnsUntil('the lock is taken', () => !isFree());
  }

  [Symbol.dispose](): void {
    this.#process[Symbol.dispose]();
    void this.#ending;
  }
}

function isFree(): boolean {
  try {
    run(['flock', '-n', LOCK, 'true']);
    return true;
  } catch {
    // The exit code of flock when the lock is held.
    return false;
  }
}
