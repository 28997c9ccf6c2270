import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { buildConfig } from '../../config/load-config.ts';
import { MODE_NAMES } from '../../config/modes.ts';
import { modeNamed } from '../../modes/mode-registry.ts';
import { type ConfigOptions, configText } from './config-text.ts';
import { kubeconfigText } from './kubeconfig-text.ts';
import { unitText } from './unit-text.ts';

const DEPLOY = join(import.meta.dirname, '../../../deploy/systemd');

const USUAL: ConfigOptions = {
  mode: 'nftables',
  podRanges: ['10.244.0.0/16'],
  zone: undefined,
  scope: undefined,
  serviceRanges: ['10.96.0.0/12'],
  clusterDns: [],
  clusterDomain: '',
};

function settingsOf(options: ConfigOptions) {
  const { settings, warnings } = buildConfig(new Map(), {
    path: '/config.conf',
    text: configText(options),
  });
  assert.deepEqual(warnings, []);
  return settings;
}

describe('the configuration', () => {
  it('is deploy/systemd/config.conf for a usual cluster', () => {
    assert.equal(configText(USUAL), readFileSync(join(DEPLOY, 'config.conf'), 'utf8'));
  });

  it('has what is known of the cluster', () => {
    const scope = {
      namespaces: ['shop'],
      services: ['kube-system/kube-dns'],
      serviceSelector: 'app in (a, b)',
    };
    const settings = settingsOf({
      ...USUAL,
      podRanges: ['10.244.0.0/16', 'fd00:244::/48'],
      zone: 'zone-a',
      scope,
      serviceRanges: ['10.96.0.0/12', 'fd00:96::/112'],
      clusterDns: ['10.96.0.10', 'fd00:96::a'],
      clusterDomain: 'k8s.example',
    });
    assert.deepEqual(settings.scope, scope);
    assert.equal(settings.zone, 'zone-a');
    assert.deepEqual(settings.serviceRanges, ['10.96.0.0/12', 'fd00:96::/112']);
    assert.deepEqual(settings.clusterDns, ['10.96.0.10', 'fd00:96::a']);
    assert.equal(settings.clusterDomain, 'k8s.example');
  });

  for (const mode of MODE_NAMES) {
    it(`masquerades everything in mode ${mode} when no pod range is known`, () => {
      assert.equal(settingsOf({ ...USUAL, mode, podRanges: [] }).masquerade.all, true);
      assert.equal(settingsOf({ ...USUAL, mode }).masquerade.all, false);
    });
  }

  for (const mode of MODE_NAMES) {
    it(`chooses mode ${mode}`, () => {
      assert.equal(settingsOf({ ...USUAL, mode }).mode, mode);
    });
  }
});

describe('the unit', () => {
  const program = ['/usr/local/bin/fairlead'];
  const unitOf = async (mode: (typeof MODE_NAMES)[number]): Promise<string> =>
    unitText({ program, needs: (await modeNamed(mode)).service });

  it('is deploy/systemd/fairlead.service for nftables', async () => {
    assert.equal(await unitOf('nftables'), readFileSync(join(DEPLOY, 'fairlead.service'), 'utf8'));
  });

  it('gives eBPF modes the capabilities of deploy/ebpf, and the system call', async () => {
    const overlay = parse(readFileSync(join(DEPLOY, '../ebpf/kustomization.yaml'), 'utf8'));
    const [container] = parse(overlay.patches[0].patch).spec.template.spec.containers;
    const names = container.securityContext.capabilities.add.map((name: string) => `CAP_${name}`);
    for (const mode of ['socket-ebpf', 'tc-ebpf'] as const) {
      const unit = await unitOf(mode);
      assert.match(unit, new RegExp(`^CapabilityBoundingSet=${names.join(' ')}$`, 'm'));
      assert.match(unit, /^SystemCallFilter=@system-service bpf$/m);
      assert.match(unit, /^RestrictNamespaces=net$/m);
    }
  });

  it('ends the agent alone in a mode whose process goes on with connections', async () => {
    const needs = { ...(await modeNamed('nftables')).service, leavesProcess: true } as const;
    assert.match(unitText({ program, needs }), /^KillMode=process$/m);
    assert.doesNotMatch(await unitOf('nftables'), /KillMode/);
  });

  it('lets iptables write its lock', async () => {
    assert.match(await unitOf('iptables'), /^ReadWritePaths=-\/run\/xtables.lock$/m);
  });

  it('quotes a path that systemd would split or expand', async () => {
    const spaced = unitText({
      program: ['/opt/my node/bin/node', '/opt/100%/$x.mjs'],
      needs: (await modeNamed('nftables')).service,
    });
    assert.match(
      spaced,
      /^ExecStart="\/opt\/my node\/bin\/node" \/opt\/100%%\/\$\$x\.mjs run --config \S+$/m,
    );
  });
});

describe('the kubeconfig', async () => {
  const OPTIONS = {
    server: 'https://192.0.2.1:6443',
    certificateAuthority: 'PEM',
    serverName: undefined,
    proxyUrl: undefined,
    account: 'fairlead-db1',
    program: ['/usr/bin/node', '/opt/fairlead.mjs'],
    renewedLifetimeSeconds: 2_592_000,
  };

  it('has a plugin that renews the token, and no secret', async () => {
    const { users, clusters } = parse(kubeconfigText(OPTIONS));
    assert.deepEqual(users, [
      {
        name: 'fairlead-db1',
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: '/usr/bin/node',
            args: [
              '/opt/fairlead.mjs',
              'outside',
              'token',
              '--token-file=/var/lib/fairlead/token',
              '--lifetime=2592000s',
            ],
            interactiveMode: 'Never',
            provideClusterInfo: true,
          },
        },
      },
    ]);
    assert.deepEqual(clusters[0].cluster, {
      server: 'https://192.0.2.1:6443',
      'certificate-authority-data': 'UEVN',
    });
  });

  it('reads the token from its file if that is not renewed', async () => {
    const { users } = parse(kubeconfigText({ ...OPTIONS, renewedLifetimeSeconds: undefined }));
    assert.deepEqual(users[0].user, { tokenFile: '/var/lib/fairlead/token' });
  });
});
