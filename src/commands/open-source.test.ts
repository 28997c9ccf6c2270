import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { AccessWarning } from '../cluster/access.ts';
import { makeCertificate } from '../cluster/testing/certificates.ts';
import { FakeApiServer } from '../cluster/testing/fake-api-server.ts';
import { openSource, type SourceOptions } from './open-source.ts';

const authority = makeCertificate({ name: 'authority' });
const forServer = makeCertificate({ name: 'server', hosts: ['127.0.0.1'], issuer: authority });
const REQUEST_DEADLINE_MS = 10_000;

/** A server with or without TLS that never answers: only the connection matters here. */
async function serve(
  t: TestContext,
  isEncrypted = true,
): Promise<FakeApiServer & { asked: Promise<unknown> }> {
  const asked = Promise.withResolvers<void>();
  const secure = { cert: forServer.certificate, key: forServer.key };
  const server = await FakeApiServer.start(() => asked.resolve(), isEncrypted ? secure : undefined);
  t.after(() => server[Symbol.asyncDispose]());
  return Object.assign(server, { asked: asked.promise });
}

interface Kubeconfig {
  readonly cluster: object;
  readonly user?: object;
  readonly mode?: number;
}

async function write(t: TestContext, { cluster, user = {}, mode = 0o600 }: Kubeconfig) {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-source-'));
  t.after(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  const kubeconfig = join(folder, 'kubeconfig');
  const text = JSON.stringify({
    'current-context': 'here',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
  });
  await writeFile(kubeconfig, text, { mode });
  await chmod(kubeconfig, mode);
  return { folder, kubeconfig };
}

async function warningsOf(options: SourceOptions): Promise<AccessWarning[]> {
  const warnings: AccessWarning[] = [];
  await openSource(options, 'node', (warning) => warnings.push(warning));
  return warnings;
}

/** Whether the source that is opened so sends requests to the server. */
async function asks(options: SourceOptions, server: { asked: Promise<unknown> }): Promise<boolean> {
  const source = await openSource(options, 'node', () => undefined);
  const lifetime = new AbortController();
  const running = source.run(() => undefined, lifetime.signal);
  const late = once(AbortSignal.timeout(REQUEST_DEADLINE_MS), 'abort');
  try {
    return await Promise.race([server.asked.then(() => true), late.then(() => false)]);
  } finally {
    lifetime.abort();
    await running;
  }
}

describe('opening a cluster warns', () => {
  it('of a certificate that is not verified, and connects', async (t) => {
    const server = await serve(t);
    const address = `https://127.0.0.1:${server.port}`;
    const cluster = { server: address, 'insecure-skip-tls-verify': true };
    const { kubeconfig } = await write(t, { cluster });
    const [warning, ...more] = await warningsOf({ kubeconfig });
    assert.equal(warning?.code, 'API_SERVER_UNVERIFIED');
    assert.match(warning.message, new RegExp(`127\\.0\\.0\\.1:${server.port}`));
    assert.ok(warning.next.includes(kubeconfig));
    assert.deepEqual(more, []);
    assert.ok(await asks({ kubeconfig }, server));
  });

  it('of nothing when the certificate is verified', async (t) => {
    const server = await serve(t);
    const data = Buffer.from(authority.certificate).toString('base64');
    const cluster = {
      server: `https://127.0.0.1:${server.port}`,
      'certificate-authority-data': data,
    };
    const { kubeconfig } = await write(t, { cluster, user: { token: 't' } });
    assert.deepEqual(await warningsOf({ kubeconfig }), []);
    assert.ok(await asks({ kubeconfig }, server));
  });

  it('of plain http, and connects', async (t) => {
    const server = await serve(t, false);
    const { kubeconfig } = await write(t, { cluster: { server: server.url.href } });
    const codes = (await warningsOf({ kubeconfig })).map(({ code }) => code);
    assert.deepEqual(codes, ['API_SERVER_PLAIN_HTTP']);
    assert.ok(await asks({ kubeconfig }, server));
  });

  it('of the address that overrides the one in the kubeconfig', async (t) => {
    const cluster = { server: 'https://api.example', 'insecure-skip-tls-verify': true };
    const { kubeconfig } = await write(t, { cluster });
    const serverUrl = 'http://other.example:8080';
    const [warning, ...more] = await warningsOf({ kubeconfig, serverUrl });
    assert.equal(warning?.code, 'API_SERVER_PLAIN_HTTP');
    assert.match(warning.message, /other\.example:8080/);
    assert.deepEqual(more, []);
  });
});

describe('opening a cluster warns of credentials that all users can read', () => {
  const cluster = { server: 'https://api.example' };

  async function exposedFiles(kubeconfig: string): Promise<string[]> {
    const warnings = await warningsOf({ kubeconfig });
    assert.ok(warnings.every(({ code }) => code === 'CREDENTIALS_EXPOSED'));
    return warnings.map(({ next }) => next);
  }

  it('in the kubeconfig itself', async (t) => {
    for (const user of [
      { token: 't' },
      { 'client-certificate-data': 'YQ==', 'client-key-data': 'YQ==' },
    ]) {
      const { kubeconfig } = await write(t, { cluster, user, mode: 0o644 });
      assert.deepEqual(await exposedFiles(kubeconfig), [`chmod 600 ${kubeconfig}`]);
      await chmod(kubeconfig, 0o640);
      assert.deepEqual(await exposedFiles(kubeconfig), []);
    }
  });

  it('and not of a kubeconfig without any', async (t) => {
    const { kubeconfig } = await write(t, {
      cluster,
      user: { tokenFile: '/nowhere' },
      mode: 0o644,
    });
    assert.deepEqual(await exposedFiles(kubeconfig), []);
  });

  it('in files that it names, unless a folder above keeps others out', async (t) => {
    const user = { tokenFile: 'token', 'client-certificate': 'crt', 'client-key': 'key' };
    const { folder, kubeconfig } = await write(t, { cluster, user, mode: 0o644 });
    for (const name of ['token', 'crt', 'key']) {
      await writeFile(join(folder, name), 'x');
      await chmod(join(folder, name), 0o644);
    }
    assert.deepEqual(await exposedFiles(kubeconfig), [
      `chmod 600 ${join(folder, 'token')}`,
      `chmod 600 ${join(folder, 'key')}`,
    ]);
    await chmod(folder, 0o700);
    assert.deepEqual(await exposedFiles(kubeconfig), []);
  });
});
