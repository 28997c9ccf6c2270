import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comparable, differences } from './saves.ts';

const SERVICES = (...rules: string[]): string =>
  [':KUBE-SERVICES - [7:9]', ...rules.map((rule) => `-A KUBE-SERVICES ${rule}`)].join('\n');
const LAST = '-m comment --comment "x; NOTE: this must be the last rule in this chain" -j Y';

describe('two listings', () => {
  it('are the same in whatever order Services come, and whatever was counted', () => {
    const one = comparable(SERVICES('-d 1.1.1.1/32', '-d 2.2.2.2/32', LAST));
    const other = comparable(SERVICES('-d 2.2.2.2/32', '-d 1.1.1.1/32', LAST));
    assert.deepEqual(differences(one, other), []);
  });

  it('differ in a rule, in its count, and in what must be last', () => {
    const one = comparable(SERVICES('-d 1.1.1.1/32', LAST));
    const without = comparable(SERVICES(LAST));
    const twice = comparable(SERVICES('-d 1.1.1.1/32', '-d 1.1.1.1/32', LAST));
    const behind = comparable(SERVICES(LAST, '-d 1.1.1.1/32'));
    for (const other of [without, twice, behind]) assert.notDeepEqual(differences(one, other), []);
  });

  it('differ in the order of a chain of one Service', () => {
    const chain = (...rules: string[]): string[] =>
      comparable(
        [':KUBE-SVC-A - [0:0]', ...rules.map((rule) => `-A KUBE-SVC-A ${rule}`)].join('\n'),
      );
    assert.equal(differences(chain('-j B', '-j C'), chain('-j C', '-j B')).length, 2);
  });
});
