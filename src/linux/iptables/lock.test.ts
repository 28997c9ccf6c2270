import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isWaiter } from './restore-process.ts';

const LOCKS = `1: FLOCK  ADVISORY  WRITE 100 fe:00:1835022 0 EOF
1: -> FLOCK  ADVISORY  WRITE 200 fe:00:1835022 0 EOF
2: POSIX  ADVISORY  WRITE 300 fe:00:264 0 EOF
2: -> POSIX  ADVISORY  WRITE 400 fe:00:264 0 EOF
`;

it('finds the processes that wait for a lock behind its holder', () => {
  assert.deepEqual(
    [100, 200, 300, 400].map((processId) => isWaiter(LOCKS, processId)),
    [false, true, false, false],
  );
});
