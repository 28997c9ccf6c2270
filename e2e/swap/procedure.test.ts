import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { stepsIn, withSteps } from './procedure.ts';
import { procedureOf } from './ways.ts';

const DOCUMENT = `## Other

**1. Not this.**

\`\`\`sh
no
\`\`\`

## Wanted

Words.

\`\`\`sh
before any step
\`\`\`

**1. Look**, and see:

\`\`\`sh
one
two
\`\`\`

\`\`\`yaml
mode: nftables
\`\`\`

\`\`\`sh
three
\`\`\`

**2. End.** Words.

\`\`\`sh
four
\`\`\`

### Below

**3. Not this.**
`;

test('steps are what stands below a heading, with their shell code', () => {
  assert.deepEqual(stepsIn(DOCUMENT, '## Wanted'), [
    { title: '1. Look', script: 'one\ntwo\nthree\n' },
    { title: '2. End', script: 'four\n' },
  ]);
});

test('a heading that is not there is an error', () => {
  assert.throws(() => stepsIn(DOCUMENT, '## Missing'), { code: 'LAB_USAGE' });
});

test('the document for operators has the steps there and back', async () => {
  const markdown = await readFile(join(import.meta.dirname, '../../docs/install.md'), 'utf8');
  const scripts = (heading: string) => stepsIn(markdown, heading).map(({ script }) => script);
  const there = scripts('### Step by step');
  const back = scripts('## And back');
  assert.deepEqual([there.length, back.length], [5, 3]);
  const oneLine = [...scripts('### One line'), ...scripts('### One line, back')];
  assert.equal(oneLine.length, 4);
  assert.ok([...there, ...back, ...oneLine].every((script) => script.includes('kubectl')));
});

test('replaces the steps that have the same number, and rejects a number that no step has', () => {
  const step = (title: string, script: string) => ({ title, script });
  const steps = [step('1. Look', 'a'), step('2. Start', 'b'), step('10. End', 'c')];
  const others = [step('2. Start another way', 'd')];
  assert.deepEqual(
    withSteps(steps, others).map(({ script }) => script),
    ['a', 'd', 'c'],
  );
  assert.throws(() => withSteps(steps, [step('3. Nowhere', 'e')]), { code: 'LAB_USAGE' });
});

test('installs and removes by Helm all that the manifests install and remove', async () => {
  const markdown = await readFile(join(import.meta.dirname, '../../docs/install.md'), 'utf8');
  for (const [direction, helmSteps, count] of [
    ['there', [1, 3], 5],
    ['back', [1, 2], 3],
  ] as const) {
    const steps = procedureOf('helm', markdown, direction);
    assert.equal(steps.length, count);
    const withHelm = steps.flatMap(({ script }, index) =>
      script.includes('helm -n') ? [index] : [],
    );
    assert.deepEqual(withHelm, helmSteps);
    assert.ok(steps.every(({ script }) => !/kubectl (?:apply|delete) -[kf]/.test(script)));
  }
});
