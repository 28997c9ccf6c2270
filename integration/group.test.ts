import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, type TestContext } from 'node:test';
import { Command } from 'commander';
import { type Group, runGroup } from './group.ts';

describe('a group of commands', () => {
  let exitCode: typeof process.exitCode;
  beforeEach(() => {
    exitCode = process.exitCode;
  });
  afterEach(() => {
    process.exitCode = exitCode;
  });

  function groupOf(t: TestContext): { group: Group; ran: string[]; printed: () => string } {
    const ran: string[] = [];
    const command = new Command()
      .option('--seed <number>')
      .action(({ seed }: { seed?: string }) => void ran.push(`first ${seed}`));
    const group: Group = {
      name: 'group',
      about: 'Does things.',
      commands: [
        { name: 'first', about: 'one thing', load: async () => ({ command }) },
        { name: 'second', about: 'another', load: () => assert.fail('loaded without need') },
      ],
    };
    const log = t.mock.method(console, 'log', () => undefined);
    t.mock.method(console, 'error', () => undefined);
    return { group, ran, printed: () => log.mock.calls.flatMap((call) => call.arguments).join() };
  }

  it('runs the command that is named, with the other arguments', async (t) => {
    const { group, ran } = groupOf(t);
    await runGroup(group, ['first', '--seed', '7']);
    assert.deepEqual(ran, ['first 7']);
  });

  for (const args of [[], ['third']]) {
    it(`lists every command and fails with the arguments [${args}]`, async (t) => {
      const { group, ran, printed } = groupOf(t);
      await runGroup(group, args);
      assert.match(printed(), /^ {2}first {3}one thing\n {2}second {2}another$/m);
      assert.equal(process.exitCode, 2);
      assert.deepEqual(ran, []);
    });
  }

  it('lists every command for --help and succeeds', async (t) => {
    const { group, printed } = groupOf(t);
    await runGroup(group, ['--help']);
    assert.match(printed(), /another/);
    assert.equal(process.exitCode, exitCode);
  });
});
