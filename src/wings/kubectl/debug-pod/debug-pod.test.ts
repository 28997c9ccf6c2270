import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { describe, it, type TestContext } from 'node:test';
import type { JsonRecord } from '../../../cluster/json.ts';
import { type CommandRun, runCommand } from '../../../commands/basis/testing/run-command.ts';
import { nodesExplainCommand } from '../nodes-explain.ts';
import {
  failed,
  type PlantedCluster,
  PlantedKubectl,
  printed,
} from '../testing/planted-kubectl.ts';
import { debugPod } from './pod-spec.ts';
import { podState } from './pod-state.ts';
import { isForgotten } from './through-pod.ts';

const NEEDS = { capabilities: ['NET_ADMIN', 'NET_RAW', 'SYS_ADMIN'], clientNamespaces: true };
const AGENT_POD: JsonRecord = {
  spec: {
    containers: [
      {
        name: 'fairlead',
        image: 'registry.example/fairlead:1',
        volumeMounts: [
          { name: 'config', mountPath: '/var/lib/kube-proxy' },
          { name: 'run', mountPath: '/run/fairlead' },
        ],
      },
    ],
    imagePullSecrets: [{ name: 'pull' }],
    volumes: [
      { name: 'config', configMap: { name: 'fairlead' } },
      { name: 'run', hostPath: { path: '/run/fairlead' } },
    ],
  },
};
const RUNNING = { status: { phase: 'Running', containerStatuses: [{ state: { running: {} } }] } };
const MADE = /^fairlead-explain-[0-9a-f]{8}$/;

interface Plant {
  /** What the API server says of the pod, one after the other; the last stays. */
  readonly states?: readonly JsonRecord[];
  readonly createComplaint?: string;
  readonly deleteComplaint?: string;
  readonly forbidden?: string;
  readonly standard?: string;
  readonly left?: readonly JsonRecord[];
  readonly agentPod?: JsonRecord;
}

function planted(plant: Plant = {}): PlantedKubectl {
  const states = [...(plant.states ?? [RUNNING])];
  const predicted = { code: 'REACHES', reaches: true, proof: null, proofNeeds: NEEDS };
  const answers: PlantedCluster['answers'] = (args, input) => {
    const [verb, kind] = args;
    const name = args.find((arg) => MADE.test(arg));
    if (verb === 'create') {
      const { kind: made, spec } = JSON.parse(input) as { kind: string; spec: JsonRecord };
      if (made === 'Pod')
        return plant.createComplaint ? failed(plant.createComplaint) : printed({});
      const { verb: asked } = spec['resourceAttributes'] as { verb: string };
      return printed({ status: { allowed: asked !== plant.forbidden } });
    }
    if (verb === 'delete')
      return plant.deleteComplaint ? failed(plant.deleteComplaint) : printed({});
    if (verb === 'exec' && name !== undefined) {
      const proven = { code: 'REACHES', reaches: true, proof: { agrees: true } };
      const out = args.includes('json') ? JSON.stringify(proven) : 'REACHES  proven\n';
      return { ended: true, exitCode: 0, stdout: out, stderr: '' };
    }
    if (verb === 'get' && kind === 'pods' && args.some((arg) => arg.includes('explain'))) {
      return printed({ items: plant.left ?? [] });
    }
    if (verb === 'get' && kind === 'pod' && name !== undefined) {
      return printed((states.length > 1 ? states.shift() : states[0]) ?? {});
    }
    return undefined;
  };
  const enforce = plant.standard && { 'pod-security.kubernetes.io/enforce': plant.standard };
  return new PlantedKubectl({
    nodes: {
      node1: {},
      node2: (_, args) => ({
        out: args.includes('json') ? JSON.stringify(predicted) : 'REACHES  predicted\n',
      }),
    },
    objects: {
      'pod -n shop cart': { spec: { nodeName: 'node2' }, status: { podIPs: [{ ip: '10.1.2.3' }] } },
      'pod -n kube-system fairlead-node2': plant.agentPod ?? AGENT_POD,
      'namespace kube-system': { metadata: { labels: enforce ?? {} } },
    },
    answers,
  });
}

async function explain(
  t: TestContext,
  kubectl: PlantedKubectl,
  ...more: string[]
): Promise<CommandRun> {
  const args = ['shop/web', '--from', 'pod:shop/cart', ...more];
  return await runCommand(t, nodesExplainCommand(kubectl), args);
}

const verbs = (kubectl: PlantedKubectl, verb: string) =>
  kubectl.asked.filter(({ args }) => args[0] === verb);
const createdPods = (kubectl: PlantedKubectl) =>
  verbs(kubectl, 'create').filter(({ input = '' }) => input.includes('"Pod"'));

describe('kubectl fairlead explain through a debug pod', () => {
  it('says what the pod may do, proves in it, and deletes it', async (t) => {
    const kubectl = planted();
    const { code, out, err } = await explain(t, kubectl);
    assert.equal(code, 0);
    assert.match(
      out,
      /^REACHES {2}proven\n\nasked on node2\nby pod fairlead-explain-\w{8}, which is deleted$/,
    );
    const [line = ''] = err.split('\n');
    assert.match(line, /^pod kube-system\/fairlead-explain-\w{8} on node2 sends a packet/);
    assert.match(line, /; capabilities NET_ADMIN NET_RAW SYS_ADMIN; /);
    const [name] = createdPods(kubectl).map(({ input = '' }) => JSON.parse(input).metadata.name);
    assert.equal(
      kubectl.asked.at(-1)?.args.slice(0, 5).join(' '),
      `delete pod -n kube-system ${name}`,
    );
  });

  it('has the pod and the proof in JSON', async (t) => {
    const { out } = await explain(t, planted(), '-o', 'json');
    const [{ node, said, debugPod: pod }] = JSON.parse(out);
    assert.deepEqual([node, said.proof.agrees, pod.isDeleted], ['node2', true, true]);
    assert.match(pod.pod, MADE);
  });

  it('makes no pod with --no-debug-pod, and says that nothing is proven', async (t) => {
    const kubectl = planted();
    const { code, out } = await explain(t, kubectl, '--no-debug-pod');
    assert.equal(code, 0);
    assert.match(out, /^REACHES {2}predicted\n/);
    assert.match(out, /\npredicted, and not proven by a packet: the agent lacks/);
    assert.deepEqual([...verbs(kubectl, 'create'), ...verbs(kubectl, 'delete')], []);
  });

  it('asks the API server for the rights, and predicts without them', async (t) => {
    const kubectl = planted({ forbidden: 'delete' });
    const { code, out } = await explain(t, kubectl);
    assert.equal(code, 0);
    assert.match(out, /^REACHES {2}predicted\n/);
    assert.match(out, /you may not delete pods\s+in kube-system/);
    assert.deepEqual(createdPods(kubectl), []);
  });

  it('names Pod Security where the namespace enforces it', async (t) => {
    const plant = {
      createComplaint: 'Error from server (Forbidden): violates',
      standard: 'restricted',
    };
    const { out } = await explain(t, planted(plant), '-o', 'json');
    const [{ said, debugPod: pod }] = JSON.parse(out);
    assert.equal(said.proof, null);
    assert.equal(pod.code, 'DEBUG_POD_REJECTED');
    assert.match(pod.why, /^Pod Security \(namespace kube-system enforces restricted\) rejects/);
  });

  it('says why the pod does not run, and deletes it', async (t) => {
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "x"' };
    const kubectl = planted({
      states: [
        { status: { phase: 'Pending' } },
        { status: { phase: 'Pending', containerStatuses: [{ state: { waiting } }] } },
      ],
    });
    const { out } = await explain(t, kubectl);
    assert.match(out, /does not\s+run:\s+ImagePullBackOff:\s+Back-off\s+pulling\s+image/);
    assert.equal(kubectl.asked.filter(({ args }) => args[0] === 'delete').length, 1);
  });

  it('warns where the pod cannot be deleted', async (t) => {
    const { out, err } = await explain(t, planted({ deleteComplaint: 'Unable to connect' }));
    assert.match(out, /which could not be deleted$/);
    assert.match(err, /warning: pod kube-system\/\S+ is not deleted \(Unable to connect\)/);
  });

  it('deletes what an earlier run left behind, and not what another run uses', async (t) => {
    const pod = (name: string, owner: string, phase: string) => ({
      metadata: { name, annotations: { 'kubectl-fairlead/owner': owner } },
      status: { phase },
    });
    const left = [
      pod('ended', 'desk/1', 'Failed'),
      pod('used', 'desk/1', 'Running'),
      pod('ours', `${hostname()}/${process.pid}`, 'Running'),
    ];
    const kubectl = planted({ left });
    await explain(t, kubectl);
    const deleted = verbs(kubectl, 'delete').map(({ args }) => args[4]);
    assert.equal(deleted.length, 2);
    assert.equal(deleted[0], 'ended');
  });

  it('says so where no other pod can ask the agent', async (t) => {
    const agentPod = { spec: { containers: [{ name: 'fairlead', image: 'fairlead' }] } };
    const { out } = await explain(t, planted({ agentPod }));
    assert.match(out, /keeps\s+\/run\/fairlead\s+inside\s+of\s+its\s+container/);
  });
});

describe('debugPod()', () => {
  it('has the image and folders of the agent, and the rights that are needed', () => {
    const wanted = {
      name: 'x',
      namespace: 'kube-system',
      node: 'node2',
      needs: NEEDS,
      deadlineSeconds: 105,
      agentPod: AGENT_POD,
      agentContainer: 'fairlead',
    };
    const { spec } = debugPod(wanted) ?? assert.fail('no pod');
    const [container] = spec.containers as unknown as [JsonRecord];
    const { capabilities } = container['securityContext'] as { capabilities: object };
    assert.deepEqual(capabilities, { drop: ['ALL'], add: NEEDS.capabilities });
    assert.equal(container['image'], 'registry.example/fairlead:1');
    assert.deepEqual(container['volumeMounts'], [
      { name: 'run', mountPath: '/run/fairlead', readOnly: false },
      {
        name: 'client-namespaces',
        mountPath: '/run/netns',
        readOnly: true,
        mountPropagation: 'HostToContainer',
      },
    ]);
    assert.deepEqual(
      [spec['activeDeadlineSeconds'], spec['hostNetwork'], spec['imagePullSecrets']],
      [105, true, [{ name: 'pull' }]],
    );
    const host = { ...wanted, needs: { capabilities: ['NET_RAW'], clientNamespaces: false } };
    assert.deepEqual(debugPod(host)?.spec['volumes'], [
      { name: 'run', hostPath: { path: '/run/fairlead' } },
    ]);
  });
});

describe('podState()', () => {
  const failures = {
    'a node under pressure': [
      { phase: 'Failed', reason: 'Evicted', message: 'The node had condition: [MemoryPressure].' },
      'Evicted: The node had condition: [MemoryPressure].',
    ],
    'a node without room': [{ phase: 'Failed', reason: 'OutOfmemory' }, 'OutOfmemory'],
    'an image without the program': [
      {
        phase: 'Failed',
        containerStatuses: [{ state: { terminated: { reason: 'StartError', message: 'no\nx' } } }],
      },
      'StartError: no',
    ],
  } as const;
  for (const [name, [status, why]] of Object.entries(failures)) {
    it(`names ${name}`, () => {
      const state = podState({ status });
      assert.equal(state.is === 'failed' && state.why, why);
    });
  }

  it('waits while an image is pulled, and while the kubelet says nothing', () => {
    const pulling = { state: { waiting: { reason: 'ErrImagePull' } } };
    assert.equal(podState({ status: { containerStatuses: [pulling] } }).is, 'waiting');
    const why = 'the kubelet has not reported on it';
    assert.deepEqual(podState({ status: { phase: 'Pending' } }), { is: 'waiting', why });
  });

  it('fails where another process deletes it', () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    assert.equal(podState({ ...RUNNING, metadata }).is, 'failed');
  });
});

describe('isForgotten()', () => {
  const here = { host: 'desk', isAlive: (pid: number) => pid === 7 };
  const ownedBy = (owner: string) => ({
    metadata: { annotations: { 'kubectl-fairlead/owner': owner } },
    status: { phase: 'Running' },
  });

  it('is a pod of a process of this machine that has ended', () => {
    const owners = ['desk/8', 'desk/7', 'other/8', 'desk/', 'desk/-1', ''];
    assert.deepEqual(
      owners.map((owner) => isForgotten(ownedBy(owner), here)),
      [true, false, false, false, false, false],
    );
  });
});
