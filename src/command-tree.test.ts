import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandsFor, commandTree } from './command-tree.ts';

async function namesFor(...args: readonly string[]): Promise<string[]> {
  return (await commandsFor(args)).map((command) => command.name());
}

const ALL = (await commandTree()).map((command) => command.name());

describe('the commands that are loaded', () => {
  it('are the one that is called', async () => {
    for (const name of ALL) assert.deepEqual(await namesFor(name, '--help'), [name]);
  });

  it('are all, where the help or a suggestion may name any', async () => {
    for (const args of [[], ['--help'], ['help', 'status'], ['statu']]) {
      assert.deepEqual(await namesFor(...args), ALL);
    }
  });

  it('are none for the version', async () => {
    for (const flag of ['--version', '-V']) assert.deepEqual(await namesFor(flag), []);
  });
});
