import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tokenClaims } from '../../../src/wings/outside/token-claims.ts';
import { INIT, InitScene, NAME } from './scene.ts';

const LONG_MS = 10 * 60_000;
const DAY_SECONDS = 86_400;

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

describe('fairlead outside init, token and off', { timeout: LONG_MS }, () => {
  let scene: InitScene;
  let clean: Readonly<Record<string, string>>;

  before(async () => {
    scene = await InitScene.start();
    clean = await scene.state();
  });

  after(async () => {
    await scene?.[Symbol.asyncDispose]();
  });

  it('shows the plan and changes nothing without --apply', async () => {
    const { exitCode, stdout, stderr } = await scene.outside('init', `--name=${NAME}`);
    assert.equal(exitCode, 0, stderr);
    assert.match(stderr, /^Nothing was changed\. With --apply, this sets up Fairlead on db1:/);
    assert.match(stdout, /^apiVersion: v1\nkind: ServiceAccount\n/);
    assert.deepEqual(await scene.state(), clean);
    assert.deepEqual(await scene.objects(), []);
  });

  it('serves a ClusterIP with exactly the files and rights that it makes', async () => {
    const { exitCode, stdout, stderr } = await scene.outside(...INIT);
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /^Fairlead is set up for db1, and not started: 9 created\n/);
    assert.equal(await scene.answerOf('default'), undefined);
    await scene.startAgent();
    assert.equal(await scene.answerOf('default'), scene.podOf('default'));
    assert.equal(await scene.answerOf('shop'), scene.podOf('shop'));
    assert.deepEqual(await scene.complaints(), []);
  });

  it('changes nothing the second time', async () => {
    const { stdout } = await scene.outside(...INIT);
    assert.match(stdout, /^Fairlead is set up for db1, and not started: 9 unchanged\n/);
  });

  it('gives kubectl the same access, and no more', async () => {
    const { exitCode, stderr } = await scene.kubectl('get', 'services', '-A');
    assert.equal(exitCode, 0, stderr);
    const { stdout } = await scene.kubectl('auth', 'can-i', '--list', '-n', 'kube-system');
    const resources = stdout.split('\n').flatMap((line) => /^[a-z]\S*/.exec(line)?.[0] ?? []);
    // Kubernetes gives these to every account.
    const isOfEverybody = (name: string): boolean => /^(self|clustertrustbundles)/.test(name);
    assert.deepEqual(resources.filter((name) => !isOfEverybody(name)).sort(), [
      'endpointslices.discovery.k8s.io',
      'serviceaccounts/token',
      'servicecidrs.networking.k8s.io',
      'services',
    ]);
  });

  it('renews a token when a fifth of its life has passed', async () => {
    const now = nowSeconds();
    const times = { issuedAt: now - 7 * DAY_SECONDS, expiresAt: now + 20 * DAY_SECONDS };
    const old = await scene.tokenOf(times);
    await scene.writeToken(old);
    const { exitCode, stderr } = await scene.kubectl('get', 'services', '-A');
    assert.equal(exitCode, 0, stderr);
    const renewed = tokenClaims(await scene.readToken());
    assert.ok(renewed !== undefined && renewed.issuedAtMs > (now - DAY_SECONDS) * 1000);
    assert.equal(renewed.expiresAtMs - renewed.issuedAtMs, 30 * DAY_SECONDS * 1000);
    assert.equal(renewed.account.name, `fairlead-${NAME}`);
  });

  it('says how to go on when the token has ended', async () => {
    const now = nowSeconds();
    const good = await scene.readToken();
    const times = { issuedAt: now - 40 * DAY_SECONDS, expiresAt: now - 10 * DAY_SECONDS };
    await scene.writeToken(await scene.tokenOf(times));
    const { exitCode, stderr } = await scene.kubectl('get', 'services', '-A');
    assert.notEqual(exitCode, 0);
    assert.match(stderr, /rejects the token of kube-system\/fairlead-db1: it ended/);
    assert.match(stderr, /run `fairlead outside init --apply` again/);
    await scene.writeToken(good);
  });

  it('keeps a file that was changed, and overwrites it only by force', async () => {
    const file = join(scene.folder, 'etc/fairlead/config.conf');
    await writeFile(file, '# mine\n', { flag: 'a' });
    const rejected = await scene.outside(...INIT, '--zone=zone-a');
    assert.equal(rejected.exitCode, 1);
    assert.match(rejected.stderr, /config\.conf: not written by fairlead, or changed since/);
    assert.match(rejected.stderr, /nothing was changed \(FILE_NOT_OURS\)/);
    const forced = await scene.outside(...INIT, '--force');
    assert.match(forced.stdout, /config\.conf +changed/);
  });

  it('deletes nothing from another cluster', async () => {
    await scene.stopAgent();
    const file = join(scene.folder, 'var/lib/fairlead/outside.json');
    const record = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...record, cluster: 'another' }));
    const made = await scene.objects();
    const { exitCode, stderr } = await scene.outside('off', '--cluster');
    assert.equal(exitCode, 1);
    assert.match(stderr, /is not the cluster that this machine was set up for/);
    assert.deepEqual(await scene.objects(), made);
    await writeFile(file, JSON.stringify(record));
  });

  it('goes back with one command: kernel, files and cluster as before', async () => {
    const { exitCode, stdout, stderr } = await scene.outside('off', '--cluster');
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /^Fairlead is removed from this machine\n/);
    assert.match(stdout, /^5 objects deleted from /m);
    assert.deepEqual(await scene.state(), clean);
    assert.deepEqual(await scene.objects(), []);
    assert.match((await scene.outside('off')).stdout, /^Nothing to do: /);
  });
});
