import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeCertificate } from '../../../src/cluster/testing/certificates.ts';
import { FakeApiServer } from '../../../src/cluster/testing/fake-api-server.ts';
import { enterOwnNetwork } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { startLimited } from './limited-proxy.ts';

const ASKED = 'the server was asked';

test('run logs an unverified API server once, as a warning, and goes on', async (t) => {
  enterOwnNetwork();
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-access-'));
  t.after(() => rm(folder, { recursive: true }));
  const { certificate, key } = makeCertificate({ name: 'server', hosts: ['elsewhere.example'] });
  const asked = Promise.withResolvers<string>();
  await using server = await FakeApiServer.start(() => asked.resolve(ASKED), {
    cert: certificate,
    key,
  });
  const kubeconfig = join(folder, 'kubeconfig');
  const cluster = { server: `https://127.0.0.1:${server.port}`, 'insecure-skip-tls-verify': true };
  await writeFile(
    kubeconfig,
    JSON.stringify({
      'current-context': 'here',
      clusters: [{ name: 'c', cluster }],
      contexts: [{ name: 'here', context: { cluster: 'c' } }],
    }),
  );
  const args = [
    '--kubeconfig',
    kubeconfig,
    '--run-folder',
    folder,
    '--conntrack-max-per-core',
    '0',
  ];
  await using proxy = startLimited({ capabilities: ['NET_ADMIN'], args });
  await proxy.says('code=API_SERVER_UNVERIFIED');
  assert.equal(await asked.promise, ASKED);
  const said = await proxy.says('starting');
  const lines = said.split('\n').filter((line) => line.includes('insecure-skip-tls-verify'));
  assert.equal(lines.length, 1, said);
  assert.match(lines[0] ?? '', /^W/);
});
