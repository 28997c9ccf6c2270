import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseListenAddress, withPort } from './network-text.ts';

test('adds a port only to an address without one', () => {
  assert.equal(withPort('127.0.0.1', 80), '127.0.0.1:80');
  assert.equal(withPort('::1', 80), '[::1]:80');
  assert.equal(withPort('127.0.0.1:81', 80), '127.0.0.1:81');
  assert.equal(withPort('[::1]:81', 80), '[::1]:81');
  assert.equal(withPort('localhost', 80), 'localhost');
});

test('parses a listen address as an address and a port', () => {
  assert.deepEqual(parseListenAddress('[::1]:5'), { ip: '::1', port: 5 });
  for (const wrong of [
    '::1:5',
    ':5',
    '1.2.3.4:',
    '1.2.3.4:0',
    '1.2.3.4:65536',
    'localhost:80',
    '',
  ]) {
    assert.equal(parseListenAddress(wrong), undefined, wrong);
  }
});
