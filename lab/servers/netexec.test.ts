import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { takeRequest } from './netexec.ts';

const GET = 'GET /hostname HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello';

describe('takeRequest()', () => {
  it('takes pipelined requests one by one, with their bodies', () => {
    const first = takeRequest(POST + GET);
    assert.equal(first?.body, 'hello');
    assert.equal(first?.rest, GET);
    const second = takeRequest(first?.rest ?? '');
    assert.match(second?.head ?? '', /^GET \/hostname/);
    assert.equal(second?.rest, '');
  });

  it('waits for the rest of a head and of a body', () => {
    for (let length = 0; length < POST.length; length++) {
      assert.equal(takeRequest(POST.slice(0, length)), undefined);
    }
  });
});
