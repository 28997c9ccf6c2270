import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { test } from 'node:test';
import { insideNetworkNamespace } from './inside-namespace.ts';
import { enterOwnNetwork } from './netlink/testing/own-namespace.ts';
import { netnsCookie } from './netns-cookie.ts';

test('gives every network namespace its own cookie, also from outside', () => {
  const [first, outer] = [netnsCookie(), readlinkSync('/proc/thread-self/ns/net')];
  enterOwnNetwork();
  const second = netnsCookie();
  assert.notEqual(second, first);
  assert.equal(netnsCookie(), second);
  assert.notEqual(readlinkSync('/proc/thread-self/ns/net'), outer);
  // The parent process of this test file stayed where the test began.
  const there = `/proc/${process.ppid}/ns/net`;
  assert.equal(insideNetworkNamespace(there, netnsCookie), first);
  assert.equal(netnsCookie(), second);
});

test('returns the thread to its namespace when the callback throws, and when it cannot enter', () => {
  const home = netnsCookie();
  const there = `/proc/${process.ppid}/ns/net`;
  const broken = (): never => {
    throw new Error('on purpose');
  };
  assert.throws(() => insideNetworkNamespace(there, broken), /on purpose/);
  assert.throws(() => insideNetworkNamespace('/dev/null', broken), {
    code: 'NAMESPACE_NOT_PERMITTED',
  });
  assert.equal(netnsCookie(), home);
});
