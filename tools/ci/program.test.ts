import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { programOf } from './program.ts';

const AROUND = {
  scripts: {
    break: 'tools/node --expose-gc integration/break/main.ts',
    test: 'tools/node tools/run-tests.ts',
    lint: 'biome ci',
  },
  binFolder: '/here/bin',
  env: { PATH: '/usr/bin', HOME: '/root' },
};

describe('programOf', () => {
  it('starts the program of an npm script, with its arguments', () => {
    const { argv, env } = programOf(
      ['npm', 'run', '-s', 'break', '--', 'fuzz', '--seed', '5'],
      AROUND,
    );
    const expected = [
      process.execPath,
      '--expose-gc',
      'integration/break/main.ts',
      'fuzz',
      '--seed',
      '5',
    ];
    assert.deepEqual(argv, expected);
    assert.deepEqual(env, { PATH: '/here/bin:/usr/bin', HOME: '/root' });
    assert.deepEqual(programOf(['npm', 'test'], AROUND).argv.slice(1), ['tools/run-tests.ts']);
  });

  it('leaves any other command as it is', () => {
    assert.deepEqual(programOf(['sh', '-c', 'true'], AROUND).argv, ['sh', '-c', 'true']);
  });

  it('rejects a script that another program would run', () => {
    assert.throws(() => programOf(['npm', 'run', '-s', 'lint'], AROUND), TypeError);
  });
});
