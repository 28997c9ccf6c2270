import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Exchange, FakeApiServer } from '../../cluster/testing/fake-api-server.ts';
import { aboutToken, execInfoFrom, lifetimeSeconds } from './token.ts';
import { askAgainAtMs, isRenewalDue, tokenClaims } from './token-claims.ts';
import { tokenNote } from './token-note.ts';
import { currentToken } from './token-renewal.ts';

const DAY_MS = 86_400_000;
const ISSUED_MS = 1_800_000_000_000;
const LIFE_MS = 30 * DAY_MS;

function tokenIssuedAt(ms: number, lifeMs = LIFE_MS): string {
  const claims = {
    sub: 'system:serviceaccount:kube-system:fairlead-db1',
    iat: ms / 1000,
    exp: (ms + lifeMs) / 1000,
  };
  return `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.y`;
}

const OLD = tokenIssuedAt(ISSUED_MS);

/** A file with the old token, and a server that answers requests for a new one. */
async function stage(
  t: TestContext,
  options: { ageMs: number; onRequest?: (exchange: Exchange) => void },
) {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-token-'));
  t.after(() => rm(folder, { recursive: true }));
  const tokenFile = join(folder, 'token');
  await writeFile(tokenFile, `${OLD}\n`);
  const nowMs = ISSUED_MS + options.ageMs;
  const renewed = tokenIssuedAt(nowMs);
  const server = await FakeApiServer.start((exchange) => {
    if (options.onRequest) options.onRequest(exchange);
    else exchange.answer(201, { status: { token: renewed } });
  });
  t.after(() => server[Symbol.asyncDispose]());
  const warnings: string[] = [];
  const info = execInfoFrom(
    JSON.stringify({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      spec: { cluster: { server: server.url.href } },
    }),
  );
  const ask = (more: { clockMs?: number } = {}) =>
    currentToken({
      tokenFile,
      lifetimeSeconds: LIFE_MS / 1000,
      accessWith: info?.accessWith,
      clock: { wallMs: () => more.clockMs ?? nowMs },
      onWarning: (message) => warnings.push(message),
    });
  return { ask, server, tokenFile, folder, warnings, renewed, nowMs };
}

describe('currentToken', () => {
  it('gives the token of the file while it is young, and asks no server', async (t) => {
    const { ask, server, nowMs } = await stage(t, { ageMs: 5 * DAY_MS });
    const given = await ask();
    assert.equal(given.token, OLD);
    assert.equal(given.askAgainAtMs, nowMs + DAY_MS);
    assert.equal(server.requests.length, 0);
  });

  it('renews it with itself after a fifth of its life, and stores the new one', async (t) => {
    const { ask, server, tokenFile, folder, renewed, nowMs } = await stage(t, {
      ageMs: 6 * DAY_MS,
    });
    assert.deepEqual(await ask(), { token: renewed, askAgainAtMs: nowMs + 6 * DAY_MS });
    const [request] = server.requests;
    assert.equal(
      request?.path,
      '/api/v1/namespaces/kube-system/serviceaccounts/fairlead-db1/token',
    );
    assert.equal(request?.headers['authorization'], `Bearer ${OLD}`);
    assert.equal(await readFile(tokenFile, 'utf8'), `${renewed}\n`);
    assert.equal((await stat(tokenFile)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(folder), ['token']);
  });

  it('gives the old one with a warning when the server fails, and asks to come back', async (t) => {
    const onRequest = (exchange: Exchange): void => exchange.reject(500);
    const { ask, warnings, nowMs } = await stage(t, { ageMs: 20 * DAY_MS, onRequest });
    assert.deepEqual(await ask(), { token: OLD, askAgainAtMs: nowMs + 600_000 });
    assert.match(warnings.join(), /not renewed yet, and ends 2027-02-14 08:00 UTC: .*500/);
  });

  it('gives a token that ended by the clock of the machine, if no server says so', async (t) => {
    const { ask, server } = await stage(t, { ageMs: 40 * DAY_MS });
    await server[Symbol.asyncDispose]();
    assert.equal((await ask()).token, OLD);
  });

  it('fails with the way out when the server rejects the token', async (t) => {
    const onRequest = (exchange: Exchange): void => exchange.reject(401);
    const { ask } = await stage(t, { ageMs: 40 * DAY_MS, onRequest });
    await assert.rejects(ask(), {
      code: 'TOKEN_ENDED',
      message: /rejects the token of kube-system\/fairlead-db1: it ended \(2027-02-14/,
      next: /fairlead outside init --apply/,
    });
  });

  it('uses the token that another process stored meanwhile', async (t) => {
    const newer = tokenIssuedAt(ISSUED_MS + DAY_MS);
    const { ask, tokenFile } = await stage(t, {
      ageMs: 7 * DAY_MS,
      onRequest: (exchange) => {
        writeFile(tokenFile, newer).then(
          () => exchange.reject(401),
          () => exchange.reject(500),
        );
      },
    });
    assert.equal((await ask()).token, newer);
  });

  it('renews a token whose age a wrong clock does not tell, and asks again after a fifth', async (t) => {
    const { ask, server, renewed } = await stage(t, { ageMs: 25 * DAY_MS });
    // The clock of the machine never reaches the day on which the token is due.
    const clockMs = ISSUED_MS - 365 * DAY_MS;
    const askAgainAtMs = clockMs + 6 * DAY_MS;
    assert.deepEqual(await ask({ clockMs }), { token: renewed, askAgainAtMs });
    assert.equal(server.requests.length, 1);
  });

  it('allows for a clock that is some minutes behind', async (t) => {
    const { ask, server } = await stage(t, { ageMs: 0 });
    assert.equal((await ask({ clockMs: ISSUED_MS - 4 * 60_000 })).token, OLD);
    assert.equal(server.requests.length, 0);
  });

  it('says what to do when there is no token', async (t) => {
    const { ask, tokenFile } = await stage(t, { ageMs: 0 });
    await rm(tokenFile);
    await assert.rejects(ask(), { code: 'TOKEN_MISSING' });
  });

  it('leaves a whole token when many processes renew it at once', async (t) => {
    const { ask, tokenFile, folder, renewed } = await stage(t, { ageMs: 6 * DAY_MS });
    await Promise.all([ask(), ask(), ask()]);
    assert.equal(await readFile(tokenFile, 'utf8'), `${renewed}\n`);
    assert.deepEqual(await readdir(folder), ['token']);
  });
});

describe('the times of a token', () => {
  it('follow a life that the API server shortened', () => {
    const claims = tokenClaims(tokenIssuedAt(ISSUED_MS, 600_000));
    assert.ok(claims);
    assert.equal(isRenewalDue(claims, ISSUED_MS + 119_000), false);
    assert.equal(isRenewalDue(claims, ISSUED_MS + 120_000), true);
    assert.equal(askAgainAtMs(claims, ISSUED_MS), ISSUED_MS + 120_000);
  });

  it('are unknown for other texts', () => {
    for (const text of ['', 'a.b.c', 'opaque', `x.${Buffer.from('{}').toString('base64url')}.y`]) {
      assert.equal(tokenClaims(text), undefined);
    }
  });

  it('are a line of the status, if there is a token', async (t) => {
    const { tokenFile: token } = await stage(t, { ageMs: 0 });
    const kubeconfig = `${token}.kubeconfig`;
    const noteAfter = (ms: number) => tokenNote(ISSUED_MS + ms, { token, kubeconfig });
    const ends = 'token ends in 20 days, 2027-02-14 08:00 UTC';
    assert.equal(await noteAfter(10 * DAY_MS), ends);
    for (const text of ['users: [{ name: a, user: { tokenFile: /t } }]', '{ not a kubeconfig']) {
      await writeFile(kubeconfig, text);
      assert.equal(await noteAfter(10 * DAY_MS), ends);
    }
    await writeFile(kubeconfig, 'users: [{ name: a, user: { exec: { command: fairlead } } }]');
    assert.equal(await noteAfter(10 * DAY_MS), `${ends}; this machine renews it`);
    assert.equal(await noteAfter(33 * DAY_MS), 'token ended 3 days ago, 2027-02-14 08:00 UTC');
    assert.equal(await tokenNote(ISSUED_MS, { token: `${token}.none`, kubeconfig }), undefined);
  });

  it('are told to a person without the secret', () => {
    const text = aboutToken(OLD, ISSUED_MS + 10 * DAY_MS);
    assert.equal(
      text,
      'the token of kube-system/fairlead-db1 ends in 20 days, 2027-02-14 08:00 UTC; due for renewal at the next use\nissued 2027-01-15 08:00 UTC, for 30 days',
    );
  });
});

describe('lifetimeSeconds', () => {
  it('takes days and durations', () => {
    assert.equal(lifetimeSeconds('30d'), 2_592_000);
    assert.equal(lifetimeSeconds('10m'), 600);
  });

  for (const text of ['9m', '', 'x', '-1h', '30']) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      assert.throws(() => lifetimeSeconds(text), { code: 'commander.invalidArgument' });
    });
  }
});
