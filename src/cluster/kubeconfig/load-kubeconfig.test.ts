import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { ClusterError, describeError } from '../cluster-error.ts';
import type { PluginCall, PluginResult } from './exec-credential.ts';
import { inClusterAccess } from './in-cluster.ts';
import { type KubeconfigOptions, loadKubeconfig } from './load-kubeconfig.ts';

const SECRET = 'hunter2';

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-kubeconfig-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
}

function config({ cluster = {}, user = {} }: Parts = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [{ name: 'c', cluster: { server: 'https://api.example:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
  });
}

async function load(t: TestContext, text: string, options: Partial<KubeconfigOptions> = {}) {
  const folder = await folderFor(t);
  const file = join(folder, 'config');
  await writeFile(file, text);
  return { folder, access: await loadKubeconfig({ files: [file], ...options }) };
}

async function failure(run: () => Promise<unknown>): Promise<ClusterError> {
  const error = await run().then(
    () => undefined,
    (reason) => reason,
  );
  assert.ok(error instanceof ClusterError, `${error}`);
  assert.doesNotMatch(`${describeError(error)} ${inspect(error)} ${error.next}`, /hunter2/);
  return error;
}

describe('loadKubeconfig, cluster and user', () => {
  const TWO = `
current-context: east
contexts:
- {name: east, context: {cluster: one, user: alice}}
- {name: west, context: {cluster: two, user: bob}}
clusters:
- {name: one, cluster: {server: "https://one.example"}}
- {name: two, cluster: {server: "https://two.example/prefix"}}
users:
- {name: alice, user: {token: a}}
- {name: bob, user: {token: b}}
`;

  it('uses the current context', async (t) => {
    const { access } = await load(t, TWO);
    assert.equal(access.server.href, 'https://one.example/');
    assert.equal((await access.token())?.reveal(), 'a');
  });

  it('uses the chosen context', async (t) => {
    const { access } = await load(t, TWO, { context: 'west' });
    assert.equal(access.server.href, 'https://two.example/prefix');
    assert.equal((await access.token())?.reveal(), 'b');
  });

  it('uses another server when one is given', async (t) => {
    const { access } = await load(t, TWO, { server: 'https://other.example' });
    assert.equal(access.server.host, 'other.example');
  });

  it('merges several files, the first definition wins', async (t) => {
    const folder = await folderFor(t);
    const files = [join(folder, 'a'), join(folder, 'b')];
    const context = 'contexts: [{name: east, context: {cluster: two, user: bob}}]';
    await writeFile(files[0] ?? '', context);
    await writeFile(files[1] ?? '', TWO);
    assert.equal((await loadKubeconfig({ files })).server.host, 'two.example');
  });

  it('rejects a missing context, cluster or user', async (t) => {
    const error = await failure(() => load(t, TWO, { context: 'north' }));
    assert.equal(error.code, 'KUBECONFIG_INVALID');
    assert.match(error.next, /east, west/);
  });
});

describe('loadKubeconfig, token', () => {
  it('reads a token file again, also when a symbolic link is replaced', async (t) => {
    const user = { tokenFile: 'token', token: 'not this one' };
    const { folder, access } = await load(t, config({ user }));
    for (const version of ['v1', 'v2']) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'token'), `${version}\n`);
    }
    await symlink('v1', join(folder, '..data'));
    await symlink('..data/token', join(folder, 'token'));
    assert.equal((await access.token())?.reveal(), 'v1');
    await symlink('v2', join(folder, '..next'));
    await rename(join(folder, '..next'), join(folder, '..data'));
    assert.equal((await access.token())?.reveal(), 'v2');
  });

  it('rejects a missing or empty token file', async (t) => {
    const { folder, access } = await load(t, config({ user: { tokenFile: 'token' } }));
    assert.equal((await failure(() => access.token())).code, 'CREDENTIALS_UNREADABLE');
    await writeFile(join(folder, 'token'), ' \n');
    assert.equal((await failure(() => access.token())).code, 'CREDENTIALS_UNREADABLE');
  });

  it('does not show the token when the access is printed', async (t) => {
    const { access } = await load(t, config({ user: { token: SECRET } }));
    assert.doesNotMatch(inspect(access, { depth: 9 }) + JSON.stringify(access), /hunter2/);
    assert.doesNotMatch(inspect(await access.token()), /hunter2/);
  });
});

describe('loadKubeconfig, certificates', () => {
  it('reads certificates from files, again on each use, or inline', async (t) => {
    const text = config({
      cluster: { 'certificate-authority': 'ca.crt', 'tls-server-name': 'kubernetes' },
      user: {
        'client-certificate-data': Buffer.from('cert').toString('base64'),
        'client-certificate': 'not-this-file',
        'client-key-data': Buffer.from(SECRET).toString('base64'),
      },
    });
    const { folder, access } = await load(t, text);
    for (const version of ['one', 'two']) {
      await writeFile(join(folder, 'ca.crt'), version);
      const { clientKey, ...tls } = await access.tls();
      assert.deepEqual(tls, {
        isUnverified: false,
        certificateAuthority: version,
        clientCertificate: 'cert',
        serverName: 'kubernetes',
      });
      assert.equal(clientKey?.reveal(), SECRET);
    }
  });

  it('verifies the server certificate unless insecure-skip-tls-verify is set', async (t) => {
    for (const [written, isUnverified] of [
      [true, true],
      ['true', false],
      [undefined, false],
    ]) {
      const text = config({ cluster: { 'insecure-skip-tls-verify': written } });
      const { access } = await load(t, text);
      assert.equal((await access.tls()).isUnverified, isUnverified);
    }
  });
});

describe('loadKubeconfig, credential plugin', () => {
  const API = 'client.authentication.k8s.io/v1';
  const EXEC = {
    apiVersion: API,
    command: './bin/login',
    args: ['--cluster', 'x'],
    env: [{ name: 'PROFILE', value: 'p' }],
    provideClusterInfo: true,
    installHint: 'install login',
  };

  function answer(status: object, apiVersion = API): PluginResult {
    const stdout = JSON.stringify({ kind: 'ExecCredential', apiVersion, status });
    return { exitCode: 0, stdout };
  }

  it('runs once for concurrent requests, and again when expired or rejected', async (t) => {
    const calls: PluginCall[] = [];
    const runPlugin = async (call: PluginCall): Promise<PluginResult> => {
      calls.push(call);
      // The second answer is over already.
      const year = calls.length === 2 ? 2001 : 2999;
      const expirationTimestamp = `${year}-01-01T00:00:00Z`;
      return answer({ token: `t${calls.length}`, expirationTimestamp });
    };
    const { folder, access } = await load(t, config({ user: { exec: EXEC } }), { runPlugin });
    const tokens = await Promise.all([access.token(), access.token(), access.tls()]);
    assert.equal(tokens[0]?.reveal(), 't1');
    assert.equal(calls.length, 1);
    assert.equal(calls[0]?.command, join(folder, 'bin/login'));
    assert.deepEqual(calls[0]?.args, ['--cluster', 'x']);
    assert.equal(calls[0]?.env['PROFILE'], 'p');
    assert.deepEqual(JSON.parse(calls[0]?.env['KUBERNETES_EXEC_INFO'] ?? ''), {
      kind: 'ExecCredential',
      apiVersion: API,
      spec: { cluster: { server: 'https://api.example:6443' }, interactive: false },
    });

    access.rejected(tokens[0]);
    assert.equal((await access.token())?.reveal(), 't2');
    assert.equal((await access.token())?.reveal(), 't3');
    access.rejected(tokens[0]);
    assert.equal((await access.token())?.reveal(), 't3', 'an old rejection does not count');
  });

  it('accepts a certificate', async (t) => {
    const status = { clientCertificateData: 'cert', clientKeyData: SECRET };
    const runPlugin = async (): Promise<PluginResult> => answer(status);
    const { access } = await load(t, config({ user: { exec: EXEC } }), { runPlugin });
    assert.equal(await access.token(), undefined);
    const tls = await access.tls();
    assert.deepEqual([tls.clientCertificate, tls.clientKey?.reveal()], ['cert', SECRET]);
  });

  const faults: Record<string, () => Promise<PluginResult>> = {
    'cannot be run': async () => {
      const about = { code: 'ENOENT', spawnargs: [SECRET] };
      throw Object.assign(new Error(`spawn ${SECRET}`), about);
    },
    fails: async () => ({ exitCode: 1, stdout: SECRET }),
    'is ended': async () => ({ exitCode: null, stdout: '' }),
    'writes something else': async () => ({ exitCode: 0, stdout: `"${SECRET}` }),
    'writes another version': async () => answer({ token: SECRET }, 'client.../v9'),
    'gives nothing': async () => answer({}),
    'gives half a certificate': async () => answer({ clientKeyData: SECRET }),
  };
  for (const [fault, runPlugin] of Object.entries(faults)) {
    it(`that ${fault} is an error without secrets`, async (t) => {
      const { access } = await load(t, config({ user: { exec: EXEC } }), { runPlugin });
      const error = await failure(() => access.token());
      assert.equal(error.code, 'CREDENTIALS_PLUGIN');
      assert.equal(error.next, 'install login');
    });
  }
});

describe('loadKubeconfig rejects', () => {
  const cases: Record<string, readonly [Parts, string]> = {
    'a user to impersonate': [{ user: { as: 'root' } }, 'KUBECONFIG_UNSUPPORTED'],
    'an auth-provider': [{ user: { 'auth-provider': {} } }, 'KUBECONFIG_UNSUPPORTED'],
    'a password': [{ user: { username: 'u', password: SECRET } }, 'KUBECONFIG_UNSUPPORTED'],
    'a plugin, where none can be run': [{ user: { exec: {} } }, 'KUBECONFIG_UNSUPPORTED'],
    'a SOCKS proxy': [
      { cluster: { 'proxy-url': `socks5://u:${SECRET}@proxy` } },
      'KUBECONFIG_UNSUPPORTED',
    ],
    'a certificate without its key': [
      { user: { 'client-certificate': 'x' } },
      'KUBECONFIG_INVALID',
    ],
    'a server that is no URL': [{ cluster: { server: 'api.example' } }, 'KUBECONFIG_INVALID'],
  };
  for (const [what, [parts, code]] of Object.entries(cases)) {
    it(what, async (t) => {
      assert.equal((await failure(() => load(t, config(parts)))).code, code);
    });
  }

  it('a file that is missing', async () => {
    const error = await failure(() => loadKubeconfig({ files: ['/nonexistent/config'] }));
    assert.equal(error.code, 'KUBECONFIG_UNREADABLE');
  });

  it('an invalid file, with the position and without its contents', async (t) => {
    const error = await failure(() => load(t, `users:\n- token: ${SECRET}\n ${SECRET}: [\n`));
    assert.equal(error.code, 'KUBECONFIG_INVALID');
    assert.match(error.message, /config:\d is not valid YAML/);
  });

  it('any text, without throwing other errors', async (t) => {
    const folder = await folderFor(t);
    const file = join(folder, 'config');
    const good = config({ user: { token: SECRET } });
    const text = fc.oneof(
      fc.string(),
      fc.tuple(fc.nat(good.length), fc.string()).map(([at, more]) => {
        return good.slice(0, at) + more + good.slice(at + more.length);
      }),
    );
    await fc.assert(
      fc.asyncProperty(text, async (written) => {
        await writeFile(file, written);
        await loadKubeconfig({ files: [file] }).catch((error) => {
          assert.ok(error instanceof ClusterError, inspect(error));
        });
      }),
    );
  });
});

describe('inClusterAccess', () => {
  it('reads the service account from its files', async (t) => {
    const folder = await folderFor(t);
    await writeFile(join(folder, 'token'), 'one');
    await writeFile(join(folder, 'ca.crt'), 'ca');
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const access = inClusterAccess({ env, folder });
    assert.equal(access.server.href, 'https://[fd00::1]/');
    assert.equal((await access.token())?.reveal(), 'one');
    assert.deepEqual(await access.tls(), { isUnverified: false, certificateAuthority: 'ca' });
  });

  it('fails outside of a pod', () => {
    assert.throws(() => inClusterAccess({ env: {} }), { code: 'IN_CLUSTER_MISSING' });
  });
});
