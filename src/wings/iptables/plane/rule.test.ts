import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { oneOf, targetOf } from './rule.ts';

const KERNEL_STEPS = 2 ** 31;

describe('a probability', () => {
  it("is the kernel's rounding of the value that kube-proxy gives", () => {
    assert.match(oneOf(3), /--probability 0\.33333333349$/);
    assert.match(oneOf(2), /--probability 0\.50000000000$/);
  });

  it('is unchanged when it is read and written again', () => {
    for (let count = 2; count <= 5000; count++) {
      const printed = Number(/\S+$/.exec(oneOf(count))?.[0]);
      const given = Number((1 / count).toFixed(10));
      assert.equal(Math.round(printed * KERNEL_STEPS), Math.round(given * KERNEL_STEPS));
    }
  });
});

describe('the target of a rule', () => {
  it('is a chain, or a target without its options', () => {
    assert.equal(targetOf('-p tcp -m comment --comment "a -j b" -j KUBE-SVC-X'), 'KUBE-SVC-X');
    assert.equal(targetOf('-j DNAT --to-destination 10.0.0.1:80'), 'DNAT');
    assert.equal(targetOf('-m comment --comment "none"'), undefined);
  });
});
