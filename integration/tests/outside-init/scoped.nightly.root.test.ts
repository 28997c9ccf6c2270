import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../lab/host/until.ts';
import { INIT, InitScene, NAME, PROGRAM } from './scene.ts';

const LONG_MS = 10 * 60_000;

describe('fairlead outside init when something goes wrong, and with a scope', {
  timeout: LONG_MS,
}, () => {
  let scene: InitScene;
  let clean: Readonly<Record<string, string>>;

  before(async () => {
    scene = await InitScene.start();
    clean = await scene.state();
  });

  after(async () => {
    await scene?.[Symbol.asyncDispose]();
  });

  it('goes back after init was killed in the middle', async () => {
    await scene.killed([...INIT], async () => (await scene.objects()).length > 2);
    const { exitCode, stderr } = await scene.outside('off', '--cluster');
    assert.equal(exitCode, 0, stderr);
    assert.deepEqual(await scene.state(), clean);
    assert.deepEqual(await scene.objects(), []);
  });

  it('serves only the namespaces of a scope, with Roles only', async () => {
    const { exitCode, stderr } = await scene.outside(...INIT, '--namespaces=shop');
    assert.equal(exitCode, 0, stderr);
    assert.deepEqual(
      (await scene.objects()).filter((name) => name.includes('clusterrole')),
      [],
    );
    await scene.startAgent();
    assert.equal(await scene.answerOf('shop'), scene.podOf('shop'));
    assert.equal(await scene.answerOf('default'), undefined);
    assert.deepEqual(await scene.complaints(), []);
    const can = await scene.kubectl('auth', 'can-i', 'list', 'services', '-n', 'default');
    assert.equal(can.stdout.trim(), 'no');
  });

  it('loses its access with its ServiceAccount', async () => {
    const account = `/api/v1/namespaces/kube-system/serviceaccounts/fairlead-${NAME}`;
    await scene.lab.api.delete(account);
    // The API server keeps its answer for a token for some seconds.
    await until(async () => (await scene.kubectl('get', 'services', '-n', 'shop')).exitCode !== 0, {
      what: 'the token to be rejected',
      deadlineMs: 60_000,
    });
  });

  it('goes back without the cluster, and tells what is left there', async () => {
    await scene.stopAgent();
    const { exitCode, stdout, stderr } = await scene.onMachine([PROGRAM, 'outside', 'off']);
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /^Fairlead is removed from this machine/);
    assert.match(stdout, /kubectl delete -n shop rolebinding\/fairlead-db1 role\/fairlead-db1/);
    assert.deepEqual(await scene.state(), clean);
  });
});
