import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from './config-error.ts';
import type { GivenFlags } from './flags/read.ts';
import { IPVS_SCHEDULERS } from './ipvs-schedulers.ts';
import { buildConfig, type LoadedConfig } from './load-config.ts';
import { planChange } from './reload-plan.ts';

const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

function load(body: string, flags: GivenFlags = new Map()): LoadedConfig {
  return buildConfig(flags, { path: 'f.yaml', text: `${HEAD}${body}\n` });
}

test('honours the block ipvs', () => {
  const block =
    'ipvs: {scheduler: wlc, excludeCIDRs: [10.1.0.0/16], tcpTimeout: 2h, tcpFinTimeout: 30s, udpTimeout: 1m, syncPeriod: 7s}';
  const { settings, warnings } = load(`mode: ipvs\n${block}`);
  assert.deepEqual(settings.ipvs, {
    scheduler: 'wlc',
    excludeCidrs: ['10.1.0.0/16'],
    tcpTimeoutMs: 7_200_000,
    tcpFinTimeoutMs: 30_000,
    udpTimeoutMs: 60_000,
  });
  assert.equal(settings.syncPeriodMs, 7_000);
  assert.deepEqual(warnings, []);
});

test('accepts every scheduler of the kernel, and an empty one for rr', () => {
  for (const name of IPVS_SCHEDULERS) {
    assert.equal(load(`mode: ipvs\nipvs: {scheduler: ${name}}`).settings.ipvs.scheduler, name);
  }
  assert.equal(load('mode: ipvs\nipvs: {scheduler: ""}').settings.ipvs.scheduler, 'rr');
});

test('rejects an unknown scheduler and lists the known ones, in mode ipvs only', () => {
  assert.throws(
    () => load('mode: ipvs\nipvs: {scheduler: leastconn}'),
    (error) =>
      error instanceof ConfigError &&
      error.message.includes(
        'ipvs.scheduler: must be one of rr, wrr, lc, wlc, lblc, lblcr, dh, sh, mh, sed, nq, fo, ovf, twos, and is "leastconn"',
      ),
  );
  load('mode: nftables\nipvs: {scheduler: leastconn}');
});

test('warns of a scheduler that gives all clients of a Service the same endpoint', () => {
  for (const name of ['dh', 'lblc', 'lblcr']) {
    const [warning] = load(`mode: ipvs\nipvs: {scheduler: ${name}}`).warnings;
    assert.equal(warning?.subject, 'ipvs.scheduler');
    assert.match(warning?.message ?? '', new RegExp(`^${name} chooses by the address`));
    assert.equal(warning?.place?.line, 4);
  }
  assert.deepEqual(load('mode: nftables\nipvs: {scheduler: dh}').warnings, []);
});

test('warns of ovf by the flag that names it', () => {
  const [warning] = load('mode: ipvs', new Map([['ipvs-scheduler', ['ovf']]])).warnings;
  assert.equal(warning?.subject, '--ipvs-scheduler');
  assert.match(warning?.message ?? '', /^ovf gives each endpoint two connections at a time/);
});

test('a new scheduler needs a restart, and strictARP has no effect', () => {
  const running = load('mode: ipvs');
  const plan = planChange(running, load('mode: ipvs\nipvs: {scheduler: lc, strictARP: true}'));
  assert.deepEqual(
    plan.restart.map(({ path }) => path),
    ['ipvs.scheduler'],
  );
  assert.deepEqual(plan.live, []);
});
