import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podThere, workloadThere } from './pod-there.ts';

const RAW = {
  metadata: { name: 'web-1', labels: { app: 'web' }, deletionTimestamp: '2026-11-01T00:00:00Z' },
  spec: {
    nodeName: 'node1',
    initContainers: [{ name: 'mesh', restartPolicy: 'Always' }, { name: 'migrate' }],
    containers: [
      {
        name: 'web',
        ports: [
          { name: 'http', containerPort: 8080 },
          { containerPort: 53, protocol: 'UDP' },
        ],
        readinessProbe: { httpGet: { port: 'http', path: '/ready' } },
        startupProbe: { exec: { command: ['cat', '/tmp/up'] } },
      },
    ],
  },
  status: {
    phase: 'Running',
    podIP: '10.1.0.2',
    podIPs: [{ ip: '10.1.0.2' }, { ip: 'FD00::2' }],
    containerStatuses: [
      {
        name: 'web',
        ready: false,
        started: false,
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
        lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
      },
    ],
  },
};

describe('the fields of a pod that tell why it serves nobody', () => {
  it('are read from the object as the API has it', () => {
    const pod = podThere(RAW);
    assert.equal(pod.isTerminating, true);
    assert.deepEqual(pod.addresses, ['10.1.0.2', 'fd00::2']);
    assert.deepEqual(
      pod.containers.map(({ name, isInit }) => [name, isInit]),
      [
        ['mesh', false],
        ['migrate', true],
        ['web', false],
      ],
    );
    assert.deepEqual(pod.containers[2], {
      name: 'web',
      isInit: false,
      ports: [
        { name: 'http', protocol: 'TCP', port: 8080 },
        { name: '', protocol: 'UDP', port: 53 },
      ],
      readinessProbe: 'GET :http/ready',
      startupProbe: 'exec cat /tmp/up',
      isReady: false,
      isStarted: false,
      state: { is: 'waiting', reason: 'CrashLoopBackOff', message: 'back-off', exitCode: 0 },
      before: { is: 'terminated', reason: 'OOMKilled', message: '', exitCode: 137 },
    });
  });

  it('survive an object of any form', () => {
    assert.equal(podThere({}).phase, '');
    const odd = { spec: { containers: ['x', { name: 5 }] }, status: { podIPs: {}, conditions: 1 } };
    assert.deepEqual(podThere(odd).addresses, []);
  });
});

describe('what makes pods', () => {
  it('has one replica unless it says another number, and a DaemonSet no number', () => {
    assert.equal(workloadThere('Deployment', {}).replicas, 1);
    assert.equal(workloadThere('StatefulSet', { spec: { replicas: 0 } }).replicas, 0);
    assert.equal(workloadThere('DaemonSet', {}).replicas, undefined);
  });

  it('says why it cannot make them', () => {
    const conditions = [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota' }];
    assert.equal(workloadThere('Deployment', { status: { conditions } }).failure, 'exceeded quota');
  });
});
