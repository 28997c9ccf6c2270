import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { addInitOptions, type InitOptions, nameFrom } from './init-options.ts';

function parse(...args: readonly string[]): InitOptions {
  const command = addInitOptions(new Command('init')).exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  return command.parse(args, { from: 'user' }).opts();
}

describe('nameFrom', () => {
  for (const [host, name] of [
    ['db1', 'db1'],
    ['DB_1.Example.COM.', 'db-1.example.com'],
    ['-x-', 'x'],
    ['', 'machine'],
    ['a'.repeat(80), 'a'.repeat(54)],
  ] as const) {
    it(`makes ${name} of ${JSON.stringify(host)}`, () => {
      assert.equal(nameFrom(host), name);
    });
  }
});

describe('the options of init', () => {
  it('take lists and durations', () => {
    const options = parse('--namespaces=a, b,a', '--services=a/web', '--token-lifetime=12h');
    assert.deepEqual(options.namespaces, ['a', 'b']);
    assert.deepEqual(options.services, ['a/web']);
    assert.equal(options.tokenLifetime, 43_200);
    assert.equal(options.renewal, true);
    assert.equal(parse('--no-renewal').renewal, false);
  });

  it('take a folder from here, and never an empty one for this machine', () => {
    assert.equal(parse().root, '/');
    assert.equal(parse('--root=/').root, '/');
    assert.equal(parse('--root=').root, process.cwd());
    assert.equal(parse('--root=x').root, `${process.cwd()}/x`);
  });

  for (const bad of [
    '--namespaces=A',
    '--namespaces=',
    '--services=web',
    '--selector=a=b=c',
    '--pod-cidr=10.0.0.0',
    '--pod-cidr=0.0.0.0/0',
    '--service-cidr=10.96.0.1',
    '--service-cidr=::/0',
    '--server=api.example:6443',
    '--server=http://api.example',
    '--name=A B',
    '--token-lifetime=5m',
    '--mode=nonsense',
  ]) {
    it(`reject ${bad}`, () => {
      assert.throws(() => parse(bad), { exitCode: 1 });
    });
  }
});
