import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { type OomScoreError, setOomScore } from './process-limits.ts';

const FILE = '/proc/self/oom_score_adj';

it('raises the score, which needs no privilege', async () => {
  const before = Number(await readFile(FILE, 'utf8'));
  const score = Math.min(1000, before + 1);
  assert.equal(await setOomScore({ score, onProblem: assert.ifError }), true);
  assert.equal(Number(await readFile(FILE, 'utf8')), score);
  assert.equal(await setOomScore({ score, onProblem: assert.ifError }), true);
});

it('writes nothing when the score is there already, as systemd sets it', async () => {
  // Readable, and writable for nobody.
  const path = '/proc/sys/kernel/ngroups_max';
  const score = Number(await readFile(path, 'utf8'));
  assert.equal(await setOomScore({ score, onProblem: assert.ifError, path }), true);
});

it('reports a rejection, and continues', async () => {
  const problems: OomScoreError[] = [];
  const onProblem = (problem: OomScoreError): void => {
    problems.push(problem);
  };
  assert.equal(await setOomScore({ score: 5000, onProblem }), false);
  assert.equal(await setOomScore({ score: 1, onProblem, path: '/proc/self/no-such' }), false);
  assert.deepEqual(
    problems.map(({ cause }) => (cause as NodeJS.ErrnoException).code),
    ['EINVAL', 'ENOENT'],
  );
});
