import assert from 'node:assert/strict';
import { it } from 'node:test';
import { InstantClock } from '../../time/testing/instant-clock.ts';
import { ExecPlugin } from './exec-plugin.ts';

const API = 'client.authentication.k8s.io/v1';
const LIFETIME_MS = 600_000;
const HOUR_MS = 3_600_000;

/** A plugin whose credentials live for ten minutes by the wall clock of the moment. */
function stage(): { clock: InstantClock; token: () => Promise<string | undefined> } {
  const clock = new InstantClock();
  let count = 0;
  const runPlugin = async () => {
    const expirationTimestamp = new Date(clock.wallMs() + LIFETIME_MS).toISOString();
    const status = { token: `t${++count}`, expirationTimestamp };
    const stdout = JSON.stringify({ kind: 'ExecCredential', apiVersion: API, status });
    return { exitCode: 0, stdout };
  };
  const value = { exec: { apiVersion: API, command: 'login' } };
  const user = { value, file: '/config', folder: '/' };
  const cluster = { server: 'https://api.example' };
  const plugin = new ExecPlugin({ user, cluster, runPlugin, clock });
  return { clock, token: async () => (await plugin.credential()).token?.reveal() };
}

it('returns a credential until it expires', async () => {
  const { clock, token } = stage();
  assert.equal(await token(), 't1');
  clock.advance(LIFETIME_MS - 1);
  assert.equal(await token(), 't1');
  clock.advance(1);
  assert.equal(await token(), 't2');
});

it('does not keep a credential longer when the wall clock is set back', async () => {
  const { clock, token } = stage();
  assert.equal(await token(), 't1');
  clock.jumpWall(-HOUR_MS);
  assert.equal(await token(), 't1');
  clock.advance(LIFETIME_MS);
  assert.equal(await token(), 't2');
});

it('fetches a new credential when the wall clock is set beyond its expiry', async () => {
  const { clock, token } = stage();
  assert.equal(await token(), 't1');
  clock.jumpWall(HOUR_MS);
  assert.equal(await token(), 't2');
});
