import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../../cluster/json.ts';
import { runCommand } from '../../../commands/basis/testing/run-command.ts';
import { backCommand, swapCommand } from '../swap.ts';
import { PlantedKubectl, printed } from '../testing/planted-kubectl.ts';
import { hasInitialised, hindranceOf, rolloutOf } from './daemon-sets.ts';
import { cleanupObjects, fairleadObjects, podSpecOf } from './manifests.ts';
import { configured, isNewEnough } from './prerequisites.ts';
import { changeText } from './steps-view.ts';

const IMAGES = { fairlead: 'r.example/fairlead:2', kubeProxy: 'r.example/kube-proxy:v1' };
const CONFIG = [
  'apiVersion: kubeproxy.config.k8s.io/v1alpha1',
  'kind: KubeProxyConfiguration',
  'clusterCIDR: 10.244.0.0/16',
];
const FILES = { config: CONFIG.join('\n'), kubeconfig: 'kind: Config' };

const imagesIn = (object: JsonRecord) =>
  ['initContainers', 'containers'].flatMap((name) =>
    arrayAt(podSpecOf(object), name)
      .filter(isRecord)
      .map((each) => textAt(each, 'image')),
  );

describe('objects of a swap', () => {
  it('are those of deploy/manifests, with the given image and files', () => {
    const objects = fairleadObjects(FILES, IMAGES);
    assert.deepEqual(
      objects.map((each) => textAt(each, 'kind')),
      ['ServiceAccount', 'ClusterRoleBinding', 'ConfigMap', 'DaemonSet'],
    );
    assert.equal(recordAt(objects[2] ?? {}, 'data')['config.conf'], FILES.config);
    assert.deepEqual(new Set(imagesIn(objects[3] ?? {})), new Set([IMAGES.fairlead]));
  });

  it('remove leftovers with the image of the proxy that left them', () => {
    const [ofKubeProxy = {}] = cleanupObjects('kube-proxy', IMAGES);
    assert.equal(imagesIn(ofKubeProxy)[0], IMAGES.kubeProxy);
    const [ofFairlead = {}] = cleanupObjects('fairlead', IMAGES);
    assert.deepEqual(new Set(imagesIn(ofFairlead).slice(0, -1)), new Set([IMAGES.fairlead]));
  });
});

describe('configured()', () => {
  it('gives Fairlead a mode of its own beside another mode of kube-proxy', () => {
    for (const mode of ['iptables', 'ipvs']) {
      const config = [...CONFIG, `mode: ${mode}`].join('\n');
      const files = configured({ ...FILES, config });
      assert.match(files.config, /fairlead:\n\s+mode: nftables/);
      assert.ok(files.config.startsWith(config));
    }
  });

  it('leaves the file as it is where Fairlead gets that mode by it', () => {
    for (const mode of ['nftables', '""']) {
      const config = [...CONFIG, `mode: ${mode}`].join('\n');
      assert.deepEqual(configured({ ...FILES, config }), { ...FILES, config });
    }
  });

  it('takes kubeadm files that are JSON', () => {
    const config = JSON.stringify({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'iptables',
    });
    assert.match(configured({ ...FILES, config }).config, /"?fairlead"?:/);
  });
});

describe('what the API says of pods', () => {
  it('is read as it stands', () => {
    const pod = (status: object) => ({ spec: { initContainers: [{}] }, status });
    const init = (state: object) => ({ initContainerStatuses: [{ state }] });
    assert.equal(hasInitialised(pod(init({ terminated: { exitCode: 0 } }))), true);
    assert.equal(hasInitialised(pod(init({ terminated: { exitCode: 1 } }))), false);
    assert.equal(hasInitialised(pod({})), false);
    const waiting = init({ waiting: { reason: 'ImagePullBackOff' } });
    assert.equal(hindranceOf(pod({ phase: 'Pending', ...waiting })), 'ImagePullBackOff');
    assert.equal(hindranceOf(pod({ phase: 'Running' })), undefined);
  });

  it('is not trusted before the controller has seen the last change', () => {
    const daemonSet = (observedGeneration: number) => ({
      metadata: { generation: 3 },
      status: { observedGeneration, desiredNumberScheduled: 2 },
    });
    assert.equal(rolloutOf(daemonSet(2)), undefined);
    assert.deepEqual(rolloutOf(daemonSet(3)), { desired: 2, updated: 0, ready: 0 });
  });

  it('has kernels that are too old', () => {
    const kernels = ['6.1.0-18-amd64', '5.13.0', '5.12.9', '4.18.0-553.el8', 'odd'];
    assert.deepEqual(kernels.map(isNewEnough), [true, true, false, false, true]);
  });
});

it('changeText() is what a person can type', () => {
  const objects = [{ kind: 'DaemonSet', metadata: { name: 'a' } }];
  assert.equal(
    changeText({ args: ['apply', '-f', '-'], objects }),
    'kubectl apply -f -   # DaemonSet a',
  );
  assert.equal(
    changeText({ args: ['patch', '-p', '{"a":"it\'s"}'] }),
    `kubectl patch -p '{"a":"it'\\''s"}'`,
  );
});

describe('kubectl fairlead swap and back', () => {
  const kubeProxy = (image: string) => ({
    metadata: { name: 'kube-proxy', generation: 1 },
    spec: { template: { spec: { containers: [{ name: 'kube-proxy', image }] } } },
    status: { observedGeneration: 1, desiredNumberScheduled: 1 },
  });
  const cluster = (image: string, allowed = true) =>
    new PlantedKubectl({
      nodes: { node1: undefined },
      answers: (args) => {
        if (args[0] === 'create') return printed({ status: { allowed } });
        if (args[1] === 'configmap') {
          return printed({ data: { 'config.conf': FILES.config, 'kubeconfig.conf': 'x' } });
        }
        if (args[1] !== 'daemonsets') return undefined;
        return printed({
          items: args.includes('metadata.name=kube-proxy') ? [kubeProxy(image)] : [],
        });
      },
    });
  const changes = ({ asked }: PlantedKubectl) =>
    asked.filter(({ args }) => ['apply', 'patch', 'delete'].some((verb) => args.includes(verb)));

  it('prints every step and its commands in a dry run, and changes nothing', async (t) => {
    for (const command of [swapCommand, backCommand]) {
      const kubectl = cluster('registry.k8s.io/kube-proxy:v1.37.1');
      const { code, out } = await runCommand(t, command(kubectl), ['--dry-run']);
      assert.equal(code, 0, out);
      assert.match(out, /^1 of \d {2}\S/);
      assert.match(out, / {2}\$ kubectl -n kube-system apply -f - {3}# .*DaemonSet/);
      assert.match(out, /: nothing was changed$/);
      assert.deepEqual(changes(kubectl), []);
    }
  });

  it('changes nothing where a right is missing, and ends with 3', async (t) => {
    const kubectl = cluster('registry.k8s.io/kube-proxy:v1.37.1', false);
    const { code, out } = await runCommand(t, swapCommand(kubectl), ['-o', 'json']);
    assert.equal(code, 3);
    const { done, steps } = JSON.parse(out);
    assert.deepEqual([done, steps.length, steps[0].state], [false, 1, 'failed']);
    assert.ok(steps[0].why.includes('you may not patch daemonsets in kube-system'));
    assert.deepEqual(changes(kubectl), []);
  });

  it('does not touch a DaemonSet of kube-proxy that runs Fairlead', async (t) => {
    const kubectl = cluster('r.example/team/fairlead:1');
    const { code, err } = await runCommand(t, swapCommand(kubectl), []);
    assert.equal(code, 1);
    assert.match(err, /runs Fairlead already[\s\S]*SWAPPED_BY_IMAGE/);
  });
});
