import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseListening } from './open-ports.ts';

it('lists sockets that other hosts reach, and none on loopback', () => {
  const text = `udp   UNCONN 0      0          0.0.0.0:68        0.0.0.0:*
tcp   LISTEN 0      511      127.0.0.1:10249     0.0.0.0:*
tcp   LISTEN 0      511              *:10256           *:*
tcp   LISTEN 0      511          [::1]:10249        [::]:*
udp   UNCONN 0      0        127.0.0.53%lo:53     0.0.0.0:*
`;
  assert.deepEqual(parseListening(text), ['tcp *:10256', 'udp 0.0.0.0:68']);
});
