import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { commandsFor, commandTree } from './command-tree.ts';
import { runProgram } from './commands/program.ts';
import { NEEDS_WINGS } from './wings/testing/needs-wings.ts';

async function run(t: TestContext, ...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const log = t.mock.method(console, 'log', (text: string) => void out.push(text));
  const error = t.mock.method(console, 'error', (text: string) => void err.push(text));
  try {
    const code = await runProgram(commandsFor, args);
    return { code, out: out.join('\n'), err: err.join('\n') };
  } finally {
    for (const { mock } of [log, error]) mock.restore();
  }
}

const COMMANDS = await commandTree();
const VERBS = COMMANDS.map((command) => command.name());
const IN_GROUPS = COMMANDS.flatMap((group) =>
  group.commands.map((command) => [group.name(), command.name()]),
);

describe('the help', () => {
  it('has every verb under a heading', NEEDS_WINGS, async (t) => {
    const { code, out } = await run(t, '--help');
    assert.equal(code, 0);
    const headings = [
      'Options:',
      'Run:',
      'Inspect a node:',
      'Outside the cluster:',
      'Configure and maintain:',
    ];
    assert.deepEqual(out.match(/^\S.*:$/gm), headings);
    for (const verb of VERBS) assert.match(out, new RegExp(`^  ${verb} `, 'm'));
  });

  it('shows all flags of kube-proxy only on request', async (t) => {
    for (const verb of ['run', 'config']) {
      const usual = await run(t, verb, '--help');
      assert.equal(usual.code, 0);
      assert.match(usual.out, /--proxy-mode/);
      assert.doesNotMatch(usual.out, /--ipvs-strict-arp/);
      assert.match(usual.out, /--help-flags +show the help with all \d\d flags of kube-proxy/);
      const full = await run(t, verb, '--help-flags');
      assert.equal(full.code, 0);
      assert.match(full.out, /--ipvs-strict-arp/);
    }
  });

  it('fits 80 columns', async (t) => {
    const pages = [
      ...VERBS.map((verb) => [verb, '--help']),
      ...IN_GROUPS.map((words) => [...words, '--help']),
      ...[['--help'], ['run', '--help-flags'], ['config', '--help-flags']],
    ];
    for (const page of pages) {
      const { out } = await run(t, ...page);
      assert.deepEqual(
        out.split('\n').filter((line) => line.length > 80),
        [],
      );
    }
  });
});

describe('a wrong command line', () => {
  const cases: Record<string, readonly [args: readonly string[], first: string]> = {
    'names no command': [['nonsense'], "error: unknown command 'nonsense'"],
    'names no flag': [['run', '--nonsense'], "error: unknown option '--nonsense'"],
    'lacks a value': [['run', '--v'], "error: option '-v, --v <int32>' argument missing"],
    'has too much': [['status', 'x'], "error: too many arguments for 'status'"],
    'names no shell': [['completion'], 'error: no shell given; use one of bash, zsh, fish'],
    'names no command of a group': [['outside', 'x'], "error: unknown command 'x'"],
    'names no flag of a command in a group': [
      ['outside', 'init', '--x'],
      "error: unknown option '--x'",
    ],
    'names no mode': [['cleanup', '--mode', 'x'], "error: option '--mode <mode>' argument 'x'"],
  };
  for (const [name, [args, first]] of Object.entries(cases)) {
    it(`that ${name} ends with 2`, NEEDS_WINGS, async (t) => {
      const { code, out, err } = await run(t, ...args);
      assert.deepEqual({ code, out }, { code: 2, out: '' });
      assert.ok(err.startsWith(first), err);
      assert.ok(err.endsWith(hintAfter(args)), err);
    });
  }
});

function hintAfter([verb = '', below = '']: readonly string[]): string {
  if (!VERBS.includes(verb)) return '`fairlead --help` lists the commands (USAGE)';
  if (verb !== 'outside') return `\`fairlead ${verb} --help\` lists its options (USAGE)`;
  return below === 'x'
    ? '`fairlead outside --help` lists its commands (USAGE)'
    : `\`fairlead outside ${below} --help\` lists its options (USAGE)`;
}

it('prints the version in all spellings of the flag', async (t) => {
  for (const args of [['--version'], ['-V'], ['run', '--version']]) {
    const { code, out } = await run(t, ...args);
    assert.equal(code, 0);
    assert.match(out, /^fairlead \S+$/);
  }
});
