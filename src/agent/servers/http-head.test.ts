import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_HEAD_BYTES, type RequestHead, readHead } from './http-head.ts';

function head(text: string): RequestHead {
  const result = readHead(Buffer.from(text));
  assert.ok(typeof result === 'object', `${JSON.stringify(text)} is ${String(result)}`);
  return result;
}

describe('the head of a request', () => {
  it('is parsed as kubelet, Prometheus and load balancers send it', () => {
    const kubelet =
      'GET /livez HTTP/1.1\r\nHost: 10.0.0.1:10256\r\nUser-Agent: kube-probe/1.34\r\n' +
      'Accept: */*\r\nConnection: close\r\n\r\n';
    assert.deepEqual(head(kubelet), {
      path: '/livez',
      isHead: false,
      keepsAlive: false,
      isOld: false,
      hasBody: false,
      lengthBytes: kubelet.length,
    });
    assert.equal(head('GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n').keepsAlive, true);
    assert.equal(head('GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n').path, '/metrics');
    assert.equal(head('GET / HTTP/1.0\r\n\r\n').keepsAlive, false);
    assert.equal(head('GET / HTTP/1.0\r\nconnection: Keep-Alive\r\n\r\n').keepsAlive, true);
    assert.equal(head('GET / HTTP/1.1\r\nConnection: TE, close\r\n\r\n').keepsAlive, false);
    assert.equal(head('HEAD / HTTP/1.1\r\n\r\n').isHead, true);
    assert.equal(head('GET http://node:10256/healthz HTTP/1.1\r\n\r\n').path, '/healthz');
    assert.equal(head('GET http://node?x HTTP/1.1\r\n\r\n').path, '/');
    assert.equal(head('\r\nGET /livez HTTP/1.1\r\n\r\n').path, '/livez');
  });

  it('shows whether a body follows', () => {
    assert.equal(head('POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n').hasBody, false);
    assert.equal(head('POST / HTTP/1.1\r\nContent-Length: 7\r\n\r\n').hasBody, true);
    assert.equal(head('POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n').hasBody, true);
  });

  it('ends where the next one begins', () => {
    const first = 'GET /a HTTP/1.1\r\n\r\n';
    const { path, lengthBytes } = head(`${first}GET /b HTTP/1.1\r\n\r\n`);
    assert.deepEqual([path, lengthBytes], ['/a', first.length]);
  });

  it('is incomplete, malformed or too large otherwise', () => {
    assert.equal(readHead(Buffer.from('')), 'incomplete');
    assert.equal(readHead(Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n')), 'incomplete');
    for (const line of ['GET /', 'GET / HTTP/2.0', 'GET  / HTTP/1.1', 'G\0T / HTTP/1.1', '']) {
      assert.equal(readHead(Buffer.from(`${line}\r\nHost: a\r\n\r\n`)), 'malformed', line);
    }
    assert.equal(readHead(Buffer.from('GET / HTTP/1.1\r\nno colon\r\n\r\n')), 'malformed');
    const long = `GET / HTTP/1.1\r\nX: ${'a'.repeat(MAX_HEAD_BYTES)}`;
    assert.equal(readHead(Buffer.from(long)), 'too large');
    assert.equal(readHead(Buffer.from(`${long}\r\n\r\n`)), 'too large');
  });

  it('is parsed from any bytes without an error, and never longer than they are', () => {
    const piece = fc.constantFrom('GET ', '/', ' HTTP/1.1', '\r\n', ':', 'a', '\0', '\xff', '\n');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const bytes = Buffer.from(pieces.join(''), 'latin1');
        const result = readHead(bytes);
        assert.ok(typeof result === 'string' || result.lengthBytes <= bytes.length);
      }),
    );
  });
});

it('reads a head in time proportional to its length, whatever the spaces in it', () => {
  const odd = Buffer.from(`GET / HTTP/1.1\r\na:x${' '.repeat(8000)}y\r\n\r\n`);
  const startedAtMs = performance.now();
  // With a pattern that backtracks each blocks the event loop for a fifth of a second.
  for (let count = 0; count < 100; count++) assert.equal(typeof readHead(odd), 'object');
  assert.ok(performance.now() - startedAtMs < 5_000);
});
