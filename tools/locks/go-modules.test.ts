import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goModuleProblems } from './go-modules.ts';

const MOD = `module fairlead/lab/parts/x

go 1.26.0

require example.com/direct v1.2.3

require (
\texample.com/indirect v0.1.0 // indirect
\texample.com/replaced v0.0.0
)

replace example.com/replaced => example.com/other v0.9.0

replace example.com/unused => example.com/unused v0.9.0
`;
const SUM = ['example.com/direct v1.2.3', 'example.com/indirect v0.1.0', 'example.com/other v0.9.0']
  .map((line) => `${line} h1:a=\n${line}/go.mod h1:b=\n`)
  .join('');

function problems(sum: string | undefined): string[] {
  return goModuleProblems({ path: 'go.mod', mod: MOD, sum }).map(({ problem }) => problem);
}

test('accepts a module all of whose requirements have a hash', () => {
  assert.deepEqual(problems(SUM), []);
  assert.deepEqual(
    goModuleProblems({ path: 'm', mod: 'module m\n\ngo 1.26.0\n', sum: undefined }),
    [],
  );
});

test('names each requirement that has none', () => {
  assert.deepEqual(problems(SUM.replaceAll('indirect', 'elsewhere')), [
    'go.sum has no hash of example.com/indirect v0.1.0',
  ]);
  assert.deepEqual(problems(SUM.replaceAll('other', 'elsewhere')), [
    'go.sum has no hash of example.com/other v0.9.0',
  ]);
  assert.equal(problems(undefined).length, 3);
});
