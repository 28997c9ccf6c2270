import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../lab/host/run.ts';
import { type RealCluster, startRealCluster } from '../../lab/real/cluster.ts';
import { findRealProxy } from '../../lab/real/proxies/registry.ts';
import { type Desk, openDesk } from './desk.ts';

const LONG_MS = 900_000;
const LABEL = 'app.kubernetes.io/name=fairlead-explain';
const TARGET = 'kube-system/kube-dns:dns-tcp';
/** The machine may be busy. */
const PATIENT = ['--timeout', '90'];
/** Ends the plugin once its pod is there, as a terminal or the system would. */
const untilPodThenKill = (signal: string, client: string): string => `
set -m
kubectl-fairlead explain ${TARGET} --from ${client} ${PATIENT.join(' ')} & plugin=$!
until [ -n "$(kubectl -n kube-system get pods -l ${LABEL} -o name)" ]; do sleep 0.1; done
kill -${signal} -- -$plugin
wait $plugin`;

/** Real: kubelet, containerd, the DaemonSet as deploy/manifests has it, kubectl, and the plugin as it ships. */
describe('kubectl fairlead explain on real nodes', { timeout: LONG_MS, concurrency: false }, () => {
  let cluster: RealCluster;
  let desk: Desk;
  let client: string;

  before(async () => {
    cluster = await startRealCluster({ nodeCount: 2, proxy: findRealProxy('fairlead-nftables') });
    desk = await openDesk(cluster);
    const pods = await desk.kubectl('-n', 'kube-system', 'get', 'pods', '-o', 'name');
    const [name = ''] = pods.split('\n').filter((each) => each.includes('coredns'));
    client = `pod:kube-system/${name.replace('pod/', '')}`;
  });
  after(async () => await cluster?.[Symbol.asyncDispose]());

  const explain = (...more: string[]) =>
    desk.fairlead('explain', TARGET, '--from', client, ...PATIENT, ...more);

  async function assertNoPods(): Promise<void> {
    const left = await desk.kubectl('get', 'pods', '-A', '-l', LABEL, '-o', 'name');
    assert.equal(left, '');
  }

  it('proves by a packet from the namespace of the pod, and leaves no pod', async (t) => {
    const { exitCode, stdout, stderr } = await explain();
    assert.equal(exitCode, 0, stdout + stderr);
    assert.match(stdout, /^REACHES /);
    assert.match(stdout, /^ {2}proof +as predicted, by one SYN/m);
    assert.match(stdout, /^by pod fairlead-explain-\w{8}, which is deleted$/m);
    assert.match(stderr, /^pod kube-system\/\S+ on node\d sends .*NET_ADMIN NET_RAW SYS_ADMIN;/);
    await assertNoPods();
    t.diagnostic(`\n${stderr}\n${stdout}`);
  });

  it('runs beside another run', async () => {
    const runs = await Promise.all([explain('-o', 'json'), explain('-o', 'json')]);
    const pods = runs.map(({ stdout, stderr }) => {
      const [{ said, debugPod }] = JSON.parse(stdout);
      assert.equal(said.proof?.agrees, true, stderr);
      assert.equal(debugPod.isDeleted, true);
      return debugPod.pod;
    });
    assert.notEqual(pods[0], pods[1]);
    await assertNoPods();
  });

  it('deletes the pod after Ctrl-C', async () => {
    const { exitCode, stderr } = await desk.bash(untilPodThenKill('INT', client));
    assert.equal(exitCode, 130, stderr);
    assert.match(stderr, /^interrupted$/m);
    await assertNoPods();
  });

  it('deletes in the next run the pod of one that was killed', async () => {
    await desk.bash(untilPodThenKill('KILL', client));
    assert.notEqual(await desk.kubectl('get', 'pods', '-A', '-l', LABEL, '-o', 'name'), '');
    const { exitCode, stderr } = await explain();
    assert.equal(exitCode, 0, stderr);
    assert.match(stderr, /^deleting pod \S+, which an earlier run left behind$/m);
    await assertNoPods();
  });

  it('predicts, and says what is missing, without the right to create pods', async () => {
    const rights = ['create', 'clusterrole', 'looker', '--verb=get,list,create'];
    await desk.kubectl(...rights, '--resource=nodes,pods/exec');
    await desk.kubectl('create', 'clusterrole', 'reader', '--verb=get,list', '--resource=pods');
    for (const role of ['looker', 'reader']) {
      const binding = ['create', 'clusterrolebinding', role, `--clusterrole=${role}`];
      await desk.kubectl(...binding, '--user=somebody');
    }
    // A kubeconfig of the administrator, who acts as another user.
    const config = JSON.parse(await desk.kubectl('config', 'view', '--raw', '-o', 'json'));
    for (const { user } of config.users) user.as = 'somebody';
    const file = join(cluster.folder, 'somebody.kubeconfig');
    await writeFile(file, JSON.stringify(config));
    const { exitCode, stdout, stderr } = await explain('--kubeconfig', file);
    assert.equal(exitCode, 5, stdout + stderr);
    assert.match(stdout, /^WOULD_REACH /);
    assert.match(stdout, /^ {2}proof +predicted from the rows; not proven by a packet/m);
    assert.match(stdout, /you may not create\s+pods\s+in\s+kube-system/);
    await assertNoPods();
  });

  it('names Pod Security where it rejects the pod', async () => {
    const label = 'pod-security.kubernetes.io/enforce';
    await desk.kubectl('label', 'namespace', 'kube-system', `${label}=restricted`);
    const { stdout } = await explain('-o', 'json');
    await desk.kubectl('label', 'namespace', 'kube-system', `${label}-`);
    const [{ said, debugPod }] = JSON.parse(stdout);
    assert.deepEqual([said.proof, debugPod.code], [null, 'DEBUG_POD_REJECTED']);
    assert.match(debugPod.why, /^Pod Security \(namespace kube-system enforces restricted\)/);
    assert.match(debugPod.why, /hostNetwork=true/);
  });

  it('says that the kubelet has no room for the pod', async () => {
    const { stdout: node } = await desk.bash(
      `kubectl -n kube-system get ${client.replace('pod:kube-system/', 'pod/')} -o 'jsonpath={.spec.nodeName}'`,
    );
    await desk.bash(fillingOf(node));
    const { stdout } = await explain('-o', 'json');
    await desk.kubectl('-n', 'default', 'delete', 'pods', '--all', '--force', '--grace-period=0');
    const [{ debugPod }] = JSON.parse(stdout);
    assert.equal(debugPod.code, 'DEBUG_POD_NOT_STARTED');
    assert.match(debugPod.why, /OutOfcpu/);
    assert.equal(debugPod.isDeleted, true);
    await assertNoPods();
  });

  it('says that the image cannot be pulled', async () => {
    for (const node of ['node1', 'node2']) {
      const socket = join(cluster.folder, 'nodes', node, 'containerd-run/containerd.sock');
      const images = ['--namespace=k8s.io', 'images', 'rm', 'fairlead.test/fairlead:lab'];
      await run(['ctr', `--address=${socket}`, ...images]);
    }
    const { stdout } = await explain('-o', 'json');
    const [{ said, debugPod }] = JSON.parse(stdout);
    assert.deepEqual([said.proof, debugPod.code], [null, 'DEBUG_POD_NOT_STARTED']);
    assert.match(debugPod.why, /(ErrImagePull|ImagePullBackOff)/);
    assert.equal(debugPod.isDeleted, true);
    await assertNoPods();
  });
});

/** Pods of ever smaller requests, until a node has less than 10m left; those without room are rejected. */
function fillingOf(node: string): string {
  const sizes = [2_000, 1_000, 500, 250, 120, 60, 30, 20, 10, 10, 5, 5];
  const pods = sizes.map((size, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `filler-${index}`, namespace: 'default' },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: 'registry.k8s.io/pause:3.10.2',
          imagePullPolicy: 'IfNotPresent',
          resources: { requests: { cpu: `${size}m` } },
        },
      ],
    },
  }));
  const decided = `'jsonpath={.items[?(@.status.phase=="Pending")].metadata.name}'`;
  return pods
    .map(
      (pod) => `echo '${JSON.stringify(pod)}' | kubectl create -f -
until [ -z "$(kubectl -n default get pods -o ${decided})" ]; do sleep 0.2; done`,
    )
    .join('\n');
}
