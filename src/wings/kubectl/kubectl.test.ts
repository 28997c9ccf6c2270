import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Command } from 'commander';
import { type CommandRun, runCommand } from '../../commands/basis/testing/run-command.ts';
import { RunningProgram } from '../../linux/running-program.ts';
import type { Kubectl } from './kubectl.ts';
import { nodesDiffCommand } from './nodes-diff.ts';
import { nodesDoctorCommand } from './nodes-doctor.ts';
import { nodesExplainCommand } from './nodes-explain.ts';
import { nodesStatusCommand } from './nodes-status.ts';
import { type PlantedCluster, PlantedKubectl } from './testing/planted-kubectl.ts';

async function run(
  t: TestContext,
  command: (kubectl: Kubectl) => Command,
  options: { readonly kubectl: PlantedKubectl; readonly args?: readonly string[] },
): Promise<CommandRun> {
  return await runCommand(t, command(options.kubectl), options.args ?? []);
}

const json = (value: unknown, exit = 0) => ({ out: JSON.stringify(value), exit });
const status = (isReady: boolean, ...whats: string[]) =>
  json({
    mode: 'nftables',
    isReady,
    rows: { desired: 12, applied: isReady ? 12 : 3 },
    troubles: whats.map((what) => ({ what, next: 'do it' })),
  });

describe('kubectl fairlead status', () => {
  const cluster: PlantedCluster = {
    nodes: {
      node2: status(false, 'IPv4 changes do not reach the kernel', 'another'),
      node1: status(true),
      node3: 'late',
      node4: undefined,
      node5: undefined,
    },
    pods: [
      {
        metadata: { name: 'kube-proxy-x', namespace: 'kube-system' },
        spec: { nodeName: 'node5', containers: [{ name: 'kube-proxy', image: 'r/kube-proxy:v1' }] },
        status: { phase: 'Running' },
      },
    ],
  };

  it('has every node in one table, also those that do not answer', async (t) => {
    const { code, out } = await run(t, nodesStatusCommand, {
      kubectl: new PlantedKubectl(cluster),
    });
    assert.equal(code, 3);
    assert.deepEqual(out.split('\n'), [
      '1 of 5 nodes ready; no answer from 3',
      '',
      'NODE   STATE      MODE      IN KERNEL  TROUBLE',
      'node1  ready      nftables  12 of 12   -',
      'node2  not ready  nftables  3 of 12    IPv4 changes do not reach the kernel (and',
      '                                       1 more)',
      'node3  no answer  -         -          no answer within 15 s',
      'node4  no answer  -         -          no pod of Fairlead in namespace',
      '                                       kube-system',
      'node5  no answer  -         -          kube-proxy serves this node, not Fairlead',
    ]);
  });

  it('asks only the nodes that are named, and knows no others', async (t) => {
    const kubectl = new PlantedKubectl(cluster);
    const { code, out } = await run(t, nodesStatusCommand, { kubectl, args: ['--node', 'node1'] });
    assert.equal(code, 0);
    assert.match(out, /^1 of 1 node ready\n/);
    const unknown = await run(t, nodesStatusCommand, { kubectl, args: ['--node', 'nowhere'] });
    assert.equal(unknown.code, 1);
    assert.match(unknown.err, /no such node: nowhere/);
  });

  it('ends with 1 where a node does not answer and no other complains', async (t) => {
    const kubectl = new PlantedKubectl({ nodes: { node1: status(true), node2: 'late' } });
    assert.equal((await run(t, nodesStatusCommand, { kubectl })).code, 1);
  });

  it('finds the agent in the DaemonSet of kube-proxy, by its image', async (t) => {
    const kubectl = new PlantedKubectl({
      nodes: { node1: undefined },
      pods: [
        {
          metadata: { name: 'fairlead-node1', namespace: 'kube-system' },
          spec: {
            nodeName: 'node1',
            containers: [{ name: 'kube-proxy', image: 'a/fairlead@sha256:1' }],
          },
          status: { phase: 'Running' },
        },
      ],
    });
    await run(t, nodesStatusCommand, { kubectl });
    const exec = kubectl.asked.find(({ args }) => args[0] === 'exec');
    assert.equal(
      exec?.args.slice(0, 8).join(' '),
      'exec -n kube-system fairlead-node1 -c kube-proxy -- fairlead',
    );
  });

  it('tells what an older version does not say, and why a command failed', async (t) => {
    const kubectl = new PlantedKubectl({
      nodes: {
        node1: json({ mode: 'nftables', rows: { desired: 1, applied: 1 } }),
        node2: {
          err: 'warning: x\nno agent answers on /run/fairlead\n\nstart it (NO_AGENT)\ncommand terminated with exit code 1\n',
          exit: 1,
        },
      },
    });
    const { out } = await run(t, nodesStatusCommand, { kubectl, args: ['-o', 'json'] });
    assert.deepEqual(JSON.parse(out), [
      { node: 'node1', error: 'its version of Fairlead does not say isReady' },
      { node: 'node2', error: 'no agent answers on /run/fairlead' },
    ]);
  });

  it('says what kubectl complains of', async (t) => {
    const rejecting: Kubectl = {
      ask: async () => ({ ended: true, exitCode: 1, stdout: '', stderr: 'Unable to connect\n' }),
      start: () => RunningProgram.start('false', []),
    };
    const { code, err } = await runCommand(t, nodesStatusCommand(rejecting), []);
    assert.equal(code, 1);
    assert.match(err, /kubectl get nodes: Unable to connect/);
  });
});

describe('kubectl fairlead diff', () => {
  it('counts the differences of each node', async (t) => {
    const missing = { kind: 'missing', object: 'ip fairlead map x', service: 'shop/web:http' };
    const kubectl = new PlantedKubectl({ nodes: { node1: json([]), node2: json([missing], 3) } });
    const { code, out } = await run(t, nodesDiffCommand, { kubectl });
    assert.equal(code, 3);
    assert.deepEqual(out.split('\n'), [
      '1 of 2 nodes as desired',
      '',
      'NODE   DIFFERENCES  FIRST',
      'node1  0            -',
      'node2  1            missing ip fairlead map x (shop/web:http)',
    ]);
  });
});

describe('kubectl fairlead doctor', () => {
  const found = (level: string, code: string) => ({
    check: 'a',
    level,
    code,
    what: `${code} here`,
    why: 'it breaks',
    next: 'repair it',
  });
  const report = (...results: ReturnType<typeof found>[]) => {
    const count = (wanted: string) => results.filter(({ level }) => level === wanted).length;
    const counts = { problems: count('problem'), notes: count('note'), unasked: count('unasked') };
    return json({ ...counts, results: [...results, found('ok', 'OK')] });
  };

  it('has each code once, with the nodes that have it', async (t) => {
    const kubectl = new PlantedKubectl({
      nodes: {
        node1: report(found('note', 'TCP_LOOSE_OFF'), found('problem', 'IP_FORWARD_OFF')),
        node2: report(found('problem', 'IP_FORWARD_OFF')),
        node3: report(),
      },
    });
    const { code, out } = await run(t, nodesDoctorCommand, { kubectl });
    assert.equal(code, 3);
    assert.deepEqual(out.split('\n'), [
      '1 of 3 nodes without problems',
      '',
      'NODE   PROBLEMS  NOTES  NOT CHECKED  CODES',
      'node1  1         1      0            TCP_LOOSE_OFF, IP_FORWARD_OFF',
      'node2  1         0      0            IP_FORWARD_OFF',
      'node3  0         0      0            -',
      '',
      'problem  IP_FORWARD_OFF  on node1, node2',
      '  IP_FORWARD_OFF here',
      '  why   it breaks',
      '  next  repair it',
      '',
      'note  TCP_LOOSE_OFF  on node1',
      '  TCP_LOOSE_OFF here',
      '  why   it breaks',
      '  next  repair it',
    ]);
  });
});

describe('kubectl fairlead explain', () => {
  const explained = (code: string, more: object = {}) =>
    json({ code, reaches: code === 'REACHES', sentence: `says ${code}`, ...more });
  const pod = {
    spec: { nodeName: 'node2' },
    status: { podIPs: [{ ip: '10.1.2.3' }, { ip: 'fd00::3' }] },
  };
  const objects = { 'pod -n shop cart': pod };

  it('has what each node does in one table', async (t) => {
    const kubectl = new PlantedKubectl({
      nodes: { node1: explained('REACHES'), node2: explained('DROPPED_NO_LOCAL_ENDPOINTS') },
    });
    const { code, out } = await run(t, nodesExplainCommand, { kubectl, args: ['shop/web'] });
    assert.equal(code, 3);
    assert.deepEqual(out.split('\n'), [
      '1 of 2 nodes would reach it',
      '',
      'NODE   CODE                        SAYS',
      'node1  REACHES                     says REACHES',
      'node2  DROPPED_NO_LOCAL_ENDPOINTS  says DROPPED_NO_LOCAL_ENDPOINTS',
    ]);
  });

  it('asks the node of a pod, with its address, and prints the page of that node', async (t) => {
    const nodes = { node1: explained('REACHES'), node2: { out: 'REACHES  a page\n' } };
    const kubectl = new PlantedKubectl({ nodes, objects });
    const args = ['shop/web', '--from', 'pod:shop/cart'];
    const { code, out } = await run(t, nodesExplainCommand, { kubectl, args });
    assert.equal(code, 0);
    assert.equal(out, 'REACHES  a page\n\nasked on node2');
    const exec = kubectl.asked.filter((each) => each.args[0] === 'exec');
    assert.deepEqual(
      exec.map((each) => each.args.slice(each.args.indexOf('--') + 1).join(' ')),
      [
        'fairlead explain shop/web --from pod:10.1.2.3 -o json',
        'fairlead explain shop/web --from pod:10.1.2.3',
      ],
    );
  });

  it('asks the node of the endpoint too, where no answer came from it', async (t) => {
    const beyond = { node: 'node1', target: '10.1.1.9:80', from: '10.1.2.3' };
    const lost = { code: 'ENDPOINT_SILENT', reaches: false, beyond };
    const nodes = {
      node1: (_: string, args: readonly string[]) => ({ out: `says of ${args.join(' ')}\n` }),
      node2: (_: string, args: readonly string[]) =>
        args.includes('json') ? json(lost) : { out: 'ENDPOINT_SILENT  a page\n', exit: 4 },
    };
    const kubectl = new PlantedKubectl({ nodes, objects });
    const args = ['shop/web', '--from', 'pod:shop/cart'];
    const { code, out } = await run(t, nodesExplainCommand, { kubectl, args });
    assert.equal(code, 4);
    assert.match(out, /^ENDPOINT_SILENT {2}a page\n\nasked on node2\n\nON node1, which has the/);
    assert.match(out, /\n\nsays of .*explain 10\.1\.1\.9:80 --from 10\.1\.2\.3 --watch 12s$/);
  });

  it('takes nothing for the name of a pod that kubectl could take for an option', async (t) => {
    const kubectl = new PlantedKubectl({ nodes: {}, objects });
    for (const name of ['shop/--all-namespaces', '-A/cart', 'shop/c;id', 'shop/Cart', 'shop/..']) {
      const args = ['shop/web', '--from', `pod:${name}`];
      const { code, err } = await run(t, nodesExplainCommand, { kubectl, args });
      assert.equal(code, 2, err);
    }
    assert.deepEqual(kubectl.asked, []);
  });

  it('takes the address of a pod in the family of the target', async (t) => {
    const kubectl = new PlantedKubectl({ nodes: { node2: { out: 'page' } }, objects });
    const args = ['[fd96::10]:80', '--from', 'host', '--why-not', 'shop/cart'];
    await run(t, nodesExplainCommand, { kubectl, args });
    assert.deepEqual(kubectl.asked.at(-1)?.args.slice(-2), ['--why-not', 'fd00::3']);
  });

  it('gives manifests to the nodes by standard input, and counts what they cost', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-kubectl-'));
    t.after(() => rm(folder, { recursive: true }));
    const [a, b] = [join(folder, 'a.yaml'), join(folder, 'b.yaml')];
    await writeFile(a, 'kind: A\n');
    await writeFile(b, 'kind: B\n');
    const open = { total: { stay: 1, drain: 0, lose: 2 } };
    const nodes = { node1: explained('REACHES', { with: { open } }), node2: explained('REACHES') };
    const kubectl = new PlantedKubectl({ nodes });
    const args = ['shop/web', '--with', a, '--with', b];
    const { out } = await run(t, nodesExplainCommand, { kubectl, args });
    assert.match(out, /says REACHES; of 3 open connections here 2 lose\s+their endpoint/);
    const exec = kubectl.asked.filter((each) => each.args[0] === 'exec');
    assert.equal(exec[0]?.input, 'kind: A\n\n---\nkind: B\n');
    assert.equal(exec[0]?.args[1], '-i');
    assert.deepEqual(exec[0]?.args.slice(-4), ['--with', '-', '-o', 'json']);
  });

  it('fails where the only node does not answer', async (t) => {
    const kubectl = new PlantedKubectl({ nodes: { node2: 'late' }, objects });
    const args = ['shop/web', '--from', 'pod:shop/cart'];
    const { code, err } = await run(t, nodesExplainCommand, { kubectl, args });
    assert.equal(code, 1);
    assert.match(err, /node2 does not answer: no answer within 15 s/);
  });
});
