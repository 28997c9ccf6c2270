import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { buildConfig } from '../../../src/config/load-config.ts';
import { type Engines, provideEngines, ROOT, templateCommand } from './engines.ts';
import { configurationOf, type KubernetesObject, objectsOf } from './objects.ts';

const HOST = ['--set', 'apiServer.host=10.0.0.1'] as const;
const DAEMON_SET = 'DaemonSet kube-system/fairlead';

interface Pod {
  readonly containers: readonly [
    {
      readonly image: string;
      readonly livenessProbe: { readonly httpGet: object };
      readonly resources: object;
      readonly securityContext: { readonly capabilities: { readonly add: readonly string[] } };
    },
  ];
}

/** Texts that would end a scalar, begin a field or a document, or be a template, if they were not quoted. */
const HOSTILE = [
  `a"\nevil: "true`,
  `a'\nevil: 'true`,
  'a\n---\nkind: Pod',
  'a # b',
  'a: b',
  '{{ .Values }}',
  '*a',
  '\\"',
] as const;

describe('the values of the chart', () => {
  let folder: string;
  let engines: Engines;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-values-'));
    engines = await provideEngines();
  });
  after(() => rm(folder, { recursive: true }));

  async function withFile(name: string, content: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }

  async function assertRejected(args: readonly string[], expected: RegExp): Promise<void> {
    const { exitCode, stdout, stderr } = await engines.tryHelm(templateCommand(args));
    assert.notEqual(exitCode, 0, stdout);
    assert.match(stderr, expected);
  }

  async function podOf(args: readonly string[]): Promise<Pod> {
    const object = objectsOf(await engines.template([...HOST, ...args])).get(DAEMON_SET);
    const { spec } = object as KubernetesObject & { spec: { template: { spec: Pod } } };
    return spec.template.spec;
  }

  async function configOf(args: readonly string[]): Promise<Record<string, unknown>> {
    const files = configurationOf(await engines.template([...HOST, ...args]));
    return files['config.conf'] as Record<string, unknown>;
  }

  describe('are rejected', () => {
    const faults: readonly [what: string, args: readonly string[], expected: RegExp][] = [
      ['without the address of the API server', [], /apiServer\/host.*minLength/s],
      ['with an unknown mode', [...HOST, '--set', 'mode=nftable'], /mode.*nftables/s],
      ['with a misspelt key', [...HOST, '--set', 'clusterCidr=10.0.0.0/8'], /clusterCidr/],
      ['with a misspelt key inside', [...HOST, '--set', 'image.repo=a'], /image.*repo/s],
      ['with a port out of range', [...HOST, '--set', 'apiServer.port=65536'], /65536|65,?535/],
      [
        'with a misspelt field of config',
        [...HOST, '--set', 'config.modes=ipvs'],
        /config.*modes/s,
      ],
      ['with a wrong type in config', [...HOST, '--set', 'config.oomScoreAdj=low'], /oomScoreAdj/],
      [
        'with a mode in config that nothing has',
        [...HOST, '--set', 'config.mode=bpf'],
        /config.mode/,
      ],
    ];
    for (const [what, args, expected] of faults) {
      it(what, () => assertRejected(args, expected));
    }

    it('with a file that is no YAML object', async () => {
      const file = await withFile('broken.conf', 'mode: [nftables\n');
      await assertRejected(
        [...HOST, '--set-file', `config=${file}`],
        /config is not a YAML object/,
      );
    });

    for (const hostile of HOSTILE) {
      it(`with ${JSON.stringify(hostile)} as an address`, async () => {
        const apiServer = { host: hostile };
        const values = await withFile('hostile.json', JSON.stringify({ apiServer }));
        await assertRejected(['--values', values], /apiServer\/host/);
      });
    }
  });

  describe('stay one text each, even if the schema is not asked', () => {
    for (const hostile of HOSTILE) {
      it(JSON.stringify(hostile), async () => {
        const values = {
          apiServer: { host: hostile },
          clusterCIDR: hostile,
          metrics: { bindAddress: hostile },
          image: { repository: hostile, tag: hostile, pullPolicy: hostile },
          config: { bindAddress: hostile },
        };
        const path = await withFile('unchecked.json', JSON.stringify(values));
        const skip = '--skip-schema-validation';
        const rendered = await engines.template([skip, '--values', path]);
        const kinds = [...objectsOf(rendered).keys()];
        assert.deepEqual(kinds.sort(), [
          'ClusterRoleBinding /fairlead:node-proxier',
          'ConfigMap kube-system/fairlead',
          DAEMON_SET,
          'ServiceAccount kube-system/fairlead',
        ]);
        const { 'config.conf': config, 'kubeconfig.conf': kubeconfig } = configurationOf(rendered);
        const { clusterCIDR, bindAddress, metricsBindAddress } = config as Record<string, unknown>;
        assert.deepEqual(
          [clusterCIDR, bindAddress, metricsBindAddress],
          [hostile, hostile, hostile],
        );
        assert.ok(JSON.stringify(kubeconfig).includes(JSON.stringify(hostile).slice(1, -1)));
        const object = objectsOf(rendered).get(DAEMON_SET);
        const { spec } = object as KubernetesObject & { spec: { template: { spec: Pod } } };
        assert.equal(spec.template.spec.containers[0].image, `${hostile}:${hostile}`);
      });
    }
  });

  describe('reach the configuration', () => {
    it("takes kubeadm's file as it is, and lets other values take precedence", async () => {
      const kubeadm = [
        'apiVersion: kubeproxy.config.k8s.io/v1alpha1',
        'kind: KubeProxyConfiguration',
        'bindAddress: 0.0.0.0',
        'clientConnection: {acceptContentTypes: "", burst: 0, kubeconfig: /etc/other, qps: 0}',
        'clusterCIDR: 10.1.0.0/16',
        'conntrack: {maxPerCore: null, min: 131072}',
        'mode: ""',
        'oomScoreAdj: null',
      ];
      const file = await withFile('kubeadm.conf', kubeadm.join('\n'));
      const args = ['--set-file', `config=${file}`];
      const config = await configOf(args);
      const expected = {
        apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
        kind: 'KubeProxyConfiguration',
        bindAddress: '0.0.0.0',
        clientConnection: {
          acceptContentTypes: '',
          burst: 0,
          kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf',
          qps: 0,
        },
        clusterCIDR: '10.1.0.0/16',
        conntrack: { maxPerCore: null, min: 131072 },
        mode: '',
        oomScoreAdj: -997,
      };
      assert.deepEqual(config, expected);
      const other = await configOf([
        ...args,
        '--set',
        'clusterCIDR=10.2.0.0/16',
        '--set',
        'mode=ipvs',
      ]);
      assert.deepEqual(other, { ...expected, clusterCIDR: '10.2.0.0/16', mode: 'ipvs' });
    });

    it('writes what Fairlead reads without a warning, in every mode', async () => {
      const schema = JSON.parse(
        await readFile(join(ROOT, 'deploy/chart/fairlead/values.schema.json'), 'utf8'),
      );
      const modes: readonly string[] = schema.properties.mode.enum;
      assert.ok(modes.length > 1);
      for (const mode of modes) {
        const text = JSON.stringify(await configOf(['--set', `mode=${mode}`]));
        const { settings, warnings } = buildConfig(new Map(), { path: mode, text });
        assert.deepEqual(warnings, []);
        assert.equal(settings.mode, mode || 'nftables');
      }
    });

    it('replaces the mode of config, whichever field names it', async () => {
      const args = ['--set', 'config.fairlead.mode=tc-ebpf', '--set', 'config.mode=iptables'];
      const of = async (mode: string): Promise<unknown[]> => {
        const config = await configOf([...args, '--set', `mode=${mode}`]);
        return [config['mode'], config['fairlead']];
      };
      assert.deepEqual(await of(''), ['iptables', { mode: 'tc-ebpf' }]);
      assert.deepEqual(await of('nftables'), ['nftables', undefined]);
      assert.deepEqual(await of('userspace'), ['iptables', { mode: 'userspace' }]);
    });

    it('puts brackets around an IPv6 address of the API server', async () => {
      const args = ['--set', 'apiServer.host=fd00::1', '--set', 'apiServer.port=443'];
      const files = configurationOf(await engines.template(args));
      assert.match(
        JSON.stringify(files['kubeconfig.conf']),
        /"server":"https:\/\/\[fd00::1\]:443"/,
      );
    });
  });

  describe('reach the pods', () => {
    it('with the access of the mode that config names', async () => {
      const add = async (...args: string[]): Promise<readonly string[]> =>
        (await podOf(args)).containers[0].securityContext.capabilities.add;
      const ebpf = ['BPF', 'NET_ADMIN', 'PERFMON', 'SYS_ADMIN'];
      assert.deepEqual(await add('--set', 'config.fairlead.mode=tc-ebpf'), ebpf);
      assert.deepEqual(await add('--set', 'ebpfAccess=true'), ebpf);
      assert.deepEqual(await add('--set', 'config.mode=iptables'), ['NET_ADMIN']);
    });

    it('with probes where config lets Fairlead answer', async () => {
      const probe = async (address: string): Promise<object> => {
        const values = JSON.stringify({ config: { healthzBindAddress: address } });
        const path = await withFile('probe.json', values);
        return (await podOf(['--values', path])).containers[0].livenessProbe.httpGet;
      };
      const path = '/livez';
      assert.deepEqual(await probe(''), { path, port: 10256 });
      assert.deepEqual(await probe('0.0.0.0:10999'), { path, port: 10999 });
      assert.deepEqual(await probe('[::]:10999'), { path, port: 10999 });
      assert.deepEqual(await probe('::'), { path, port: 10256 });
      assert.deepEqual(await probe('127.0.0.1:10256'), { path, port: 10256, host: '127.0.0.1' });
    });

    it('with the resources and the image that were given', async () => {
      const digest = `sha256:${'a'.repeat(64)}`;
      const args = ['--set', 'resources.requests.cpu=1', '--set', `image.digest=${digest}`];
      const [container] = (await podOf(args)).containers;
      assert.deepEqual(container.resources, { requests: { cpu: 1 } });
      assert.equal(container.image, `localhost/fairlead@${digest}`);
    });
  });
});
