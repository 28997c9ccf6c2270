import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { socketsNow } from './sockets-now.ts';

describe('the ports that processes of this machine hold now', () => {
  it('are those that the kernel lists', async () => {
    const socket = { family: 'IPv4', protocol: 'TCP', address: '', port: 22, inode: 1 } as const;
    assert.deepEqual(await socketsNow({ list: async () => [socket], onProblem: assert.fail }), [
      socket,
    ]);
  });

  // A kernel without inet_diag cannot be made here: the list is a fake.
  it('are empty where the kernel cannot list them, as for run, with a warning', async () => {
    const told: string[] = [];
    const list = async () => {
      throw new Error('list the TCP sockets that listen: ENOENT');
    };
    assert.deepEqual(await socketsNow({ list, onProblem: (message) => told.push(message) }), []);
    assert.deepEqual(told, [
      'cannot list the listening sockets of this machine: Error: list the TCP sockets that listen: ENOENT',
    ]);
  });
});
