import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hostOf, parseBodies, parseEcho } from './tcp.ts';

const response = (body: string): string =>
  `HTTP/1.1 200 OK\r\nDate: Sun, 15 Nov 2026 07:00:00 GMT\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe('parseBodies()', () => {
  const whole = response('web-1') + response('10.1.2.3:4567');

  it('reads both answers of a kept connection', () => {
    assert.deepEqual(parseBodies(whole), { hostname: 'web-1', client: '10.1.2.3:4567' });
  });

  it('waits while anything is missing', () => {
    for (let length = 0; length < whole.length; length++) {
      assert.equal(parseBodies(whole.slice(0, length)), undefined);
    }
  });
});

describe('hostOf()', () => {
  it('takes the port off, and the brackets of IPv6', () => {
    assert.equal(hostOf('10.1.2.3:4567'), '10.1.2.3');
    assert.equal(hostOf('[fd00::1]:80'), 'fd00::1');
  });
});

describe('parseEcho()', () => {
  const answer = (body: string): string =>
    `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const text = `${answer('payload')}${answer('a')}${answer('10.0.0.9:4000')}`;

  it('waits for all three answers', () => {
    for (let length = 0; length < text.length; length++) {
      assert.equal(parseEcho(text.slice(0, length)), undefined);
    }
    assert.deepEqual(parseEcho(text), {
      echo: 'payload',
      hostname: 'a',
      client: '10.0.0.9:4000',
    });
  });
});
