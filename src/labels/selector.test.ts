import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatSelector, matchesSelector, parseSelector, type Selector } from './selector.ts';

function parsed(text: string): Selector {
  const result = parseSelector(text);
  assert.ok('selector' in result, JSON.stringify(result));
  return result.selector;
}

function fault(text: string): string {
  const result = parseSelector(text);
  return 'fault' in result ? result.fault : '';
}

test('parses every form that kubectl takes', () => {
  assert.deepEqual(
    parsed('a=b, c==d,e!=f,g in (h, i),j notin(k),l,!m,example.com/n=,o in (p,)').map((each) => [
      each.key,
      each.operator,
      'values' in each ? each.values : [],
    ]),
    [
      ['a', 'in', ['b']],
      ['c', 'in', ['d']],
      ['e', 'notin', ['f']],
      ['g', 'in', ['h', 'i']],
      ['j', 'notin', ['k']],
      ['l', 'exists', []],
      ['m', 'absent', []],
      ['example.com/n', 'in', ['']],
      ['o', 'in', ['p', '']],
    ],
  );
  assert.deepEqual(parsed(' '), []);
});

test('rejects what the API server rejects, and names it', () => {
  for (const [text, named] of [
    ['a b', '"a b"'],
    ['a=b=c', '"a=b=c"'],
    ['a>1', '"a>1"'],
    ['a,,b', '""'],
    ['=b', '""'],
    ['a in b', '"a in b"'],
    ['a in (b', '"a in (b"'],
    ['-a', '"-a"'],
    ['x/y/z', '"x/y/z"'],
    ['UPPER.com/a', '"UPPER.com/a"'],
    ['a=b c', '"b c"'],
    [`a=${'x'.repeat(64)}`, 'xxx'],
  ] as const) {
    assert.ok(fault(text).includes(named), `${text}: ${fault(text)}`);
  }
});

test('matches as the API server does, where the label is missing too', () => {
  const labels = { app: 'web', tier: '' };
  for (const [text, isMatch] of [
    ['', true],
    ['app=web', true],
    ['app=api', false],
    ['app!=web', false],
    ['other!=web', true],
    ['other=', false],
    ['tier=', true],
    ['tier', true],
    ['!tier', false],
    ['!other', true],
    ['app in (api, web),tier', true],
    ['app notin (api, web)', false],
    ['other notin (web)', true],
    ['toString', false],
  ] as const) {
    assert.equal(matchesSelector(parsed(text), labels), isMatch, text);
  }
});

test('formats a selector that parses to the same', () => {
  const key = fc.constantFrom('a', 'app.kubernetes.io/name', 'A_b.c');
  const values = fc.array(fc.constantFrom('', 'x', 'Y-z.1'), { minLength: 1, maxLength: 3 });
  const requirement = fc.oneof(
    fc.record({ key, operator: fc.constantFrom('exists' as const, 'absent' as const) }),
    fc.record({ key, operator: fc.constantFrom('in' as const, 'notin' as const), values }),
  );
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 4 }), (selector) => {
      assert.deepEqual(
        parsed(formatSelector(selector)),
        selector.map((each) => ({ ...each })),
      );
    }),
  );
});
