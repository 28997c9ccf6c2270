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

const RUNS_PER_MINUTE = 6;

/** A plugin that always gives a token, or always fails. */
function countedPlugin({ isFailing }: { isFailing: boolean }) {
  const clock = new InstantClock();
  let runs = 0;
  const runPlugin = async () => {
    const status = { token: `t${++runs}` };
    const stdout = JSON.stringify({ kind: 'ExecCredential', apiVersion: API, status });
    return { exitCode: isFailing ? 1 : 0, stdout };
  };
  const value = { exec: { apiVersion: API, command: 'login' } };
  const user = { value, file: '/config', folder: '/' };
  const cluster = { server: 'https://api.example' };
  const plugin = new ExecPlugin({ user, cluster, runPlugin, clock });
  return { plugin, clock, runs: () => runs };
}

/** As many watches do whose token is rejected: each asks, is rejected, asks once more. */
const WATCHES_PER_SECOND = 4;
const MINUTES = 5;

it('fetches a new credential at once when one is rejected that worked', async () => {
  const { plugin, clock, runs } = countedPlugin({ isFailing: false });
  const { token } = await plugin.credential();
  clock.advance(HOUR_MS);
  plugin.forget(token);
  assert.equal((await plugin.credential()).token?.reveal(), 't2');
  plugin.forget(token);
  assert.equal((await plugin.credential()).token?.reveal(), 't2');
  assert.equal(runs(), 2);
});

it('does not run for each watch while every token is rejected', async () => {
  const { plugin, clock, runs } = countedPlugin({ isFailing: false });
  for (let asked = 0; asked < MINUTES * 60 * WATCHES_PER_SECOND; asked++) {
    plugin.forget((await plugin.credential()).token);
    plugin.forget((await plugin.credential()).token);
    clock.advance(1000 / WATCHES_PER_SECOND);
  }
  assert.ok(runs() <= 2 + MINUTES * RUNS_PER_MINUTE, `${runs()} runs`);
  assert.ok(runs() >= MINUTES, `${runs()} runs`);
});

it('does not run for each watch while it fails', async () => {
  const { plugin, clock, runs } = countedPlugin({ isFailing: true });
  for (let asked = 0; asked < MINUTES * 60 * WATCHES_PER_SECOND; asked++) {
    await assert.rejects(plugin.credential(), { code: 'CREDENTIALS_PLUGIN' });
    clock.advance(1000 / WATCHES_PER_SECOND);
  }
  assert.ok(runs() <= 2 + MINUTES * RUNS_PER_MINUTE, `${runs()} runs`);
  assert.ok(runs() >= MINUTES, `${runs()} runs`);
});
