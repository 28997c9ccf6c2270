import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RunResult, tryRun } from '../host/run.ts';
import { removeLab } from '../lab.ts';

const LAB = join(import.meta.dirname, '../main.ts');
const NAME = `o${randomBytes(3).toString('hex')}`;
const LONG_MS = 180_000;
const DEADLINE_MS = 60_000;
const TIMED_OUT = 28;
const NOT_CONNECTED = 7;

function lab(...args: string[]): Promise<RunResult> {
  return tryRun([process.execPath, LAB, ...args], { deadlineMs: DEADLINE_MS });
}

describe('lab up --outside', { timeout: LONG_MS }, () => {
  let printed = '';
  /** The commands that it prints, as a person would copy them. */
  const hints = (part: string): string[][] =>
    printed
      .split('\n')
      .filter((line) => line.startsWith('  npm run lab -- ') && line.includes(part))
      .map((line) => line.replace('  npm run lab -- ', '').replaceAll("'", '').split(' '));

  before(async () => {
    const up = await lab('up', '--name', NAME, '--outside', 'fairlead-socket-ebpf');
    assert.equal(up.exitCode, 0, up.stderr);
    printed = up.stdout;
  });
  after(() => removeLab(NAME));

  it('prints what fits 80 columns, but for the name of the lab', () => {
    const name = ` --name ${NAME}`.length;
    for (const line of printed.split('\n')) assert.ok(line.length <= 80 + name, line);
  });

  it('prints commands that are answered on the machine, in both families', async () => {
    const commands = hints('machine -- curl');
    assert.equal(commands.length, 2);
    for (const command of commands) assert.match((await lab(...command)).stdout, /^web-[12]$/);
  });

  it('prints commands that are silent from other hosts, and refused at a node port', async () => {
    const codes = [...hints('client -- curl'), ...hints('container -- curl')].map(
      async (command) => (await lab(...command)).exitCode,
    );
    assert.deepEqual(await Promise.all(codes), [TIMED_OUT, NOT_CONNECTED, TIMED_OUT]);
  });

  it('has the agent of the machine answer the commands of Fairlead', async () => {
    const [status, services] = await Promise.all(
      hints('fairlead')
        .slice(0, 2)
        .map((command) => lab(...command)),
    );
    assert.match(status?.stdout ?? '', /^machine: .*ready/m);
    assert.match(status?.stdout ?? '', /^clients: own sockets$/m);
    assert.match(services?.stdout ?? '', /default\/web:http TCP/);
  });

  it('prints how to stop it, after which the machine is silent too', async () => {
    const [, pid] = /^ {2}kill (\d+) && /m.exec(printed) ?? [];
    process.kill(Number(pid));
    const cleanup = await lab('fairlead', '--name', NAME, 'machine', 'cleanup');
    assert.equal(cleanup.exitCode, 0, cleanup.stderr);
    for (const command of hints('machine -- curl')) {
      assert.equal((await lab(...command)).exitCode, TIMED_OUT);
    }
  });
});
