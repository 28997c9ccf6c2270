import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { test } from 'node:test';
import { insideNetworkNamespace } from './inside-namespace.ts';
import { enterOwnNetwork } from './netlink/testing/own-namespace.ts';

function namespaceHere(): string {
  return readlinkSync('/proc/thread-self/ns/net');
}

test('enters another network namespace for one call', () => {
  const outer = namespaceHere();
  enterOwnNetwork();
  const inner = namespaceHere();
  assert.notEqual(inner, outer);
  // The parent process of this test file stayed where the test began.
  assert.equal(insideNetworkNamespace(`/proc/${process.ppid}/ns/net`, namespaceHere), outer);
  assert.equal(namespaceHere(), inner);
});

test('returns the thread to its namespace when the callback throws, and when it cannot enter', () => {
  const home = namespaceHere();
  const there = `/proc/${process.ppid}/ns/net`;
  const broken = (): never => {
    throw new Error('on purpose');
  };
  assert.throws(() => insideNetworkNamespace(there, broken), /on purpose/);
  assert.throws(() => insideNetworkNamespace('/dev/null', broken), {
    code: 'NAMESPACE_NOT_PERMITTED',
  });
  assert.equal(namespaceHere(), home);
});
