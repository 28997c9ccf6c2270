import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type CommandRun, runCommand } from '../../commands/basis/testing/run-command.ts';
import { nodeViewCommand } from './nodes-view-command.ts';
import { PlantedKubectl } from './testing/planted-kubectl.ts';

const ADDRESS = 'http://127.0.0.1:4711/?token=abc';
const VIEW = `echo '${ADDRESS}'; exec cat`;
const FORWARD = "echo 'Forwarding from 127.0.0.1:4711 -> 4711'; exec cat";

async function run(
  t: TestContext,
  scripts: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<CommandRun & { readonly kubectl: PlantedKubectl }> {
  const kubectl = new PlantedKubectl({ nodes: { node1: {}, node2: undefined }, scripts });
  return { ...(await runCommand(t, nodeViewCommand(kubectl), args)), kubectl };
}

describe('kubectl fairlead view', () => {
  it('starts the command in the pod of the node, forwards its port and prints its address', async (t) => {
    // Interrupted when the address is there.
    const forward = `${FORWARD.replace('exec cat', 'kill -INT $PPID; exec cat')}`;
    const { code, out, kubectl } = await run(t, { exec: VIEW, 'port-forward': forward }, 'node1');
    assert.equal(code, 0);
    assert.deepEqual(out.split('\n'), [ADDRESS, 'of fairlead-node1; read-only; Ctrl-C ends it']);
    const started = kubectl.asked
      .filter(({ args }) => args[0] === 'exec' || args[0] === 'port-forward')
      .map(({ args }) => args.join(' '));
    assert.deepEqual(started, [
      'exec -i -n kube-system fairlead-node1 -c fairlead -- fairlead view --until-input-ends --port 0',
      'port-forward -n kube-system pod/fairlead-node1 4711:4711 --address 127.0.0.1',
    ]);
  });

  it('fails with the complaint where the command does not start in the pod', async (t) => {
    const exec = 'echo "Defaulted container x" >&2; echo "no agent answers" >&2; exit 1';
    const { code, err } = await run(t, { exec }, 'node1');
    assert.equal(code, 1);
    assert.match(err, /fairlead view did not start: no agent answers/);
  });

  it('fails where the port is taken here, and ends what runs in the pod', async (t) => {
    const forward = 'echo "unable to listen on port 4711" >&2; exit 1';
    const { code, err } = await run(t, { exec: VIEW, 'port-forward': forward }, 'node1');
    assert.equal(code, 1);
    assert.match(err, /kubectl port-forward did not start: unable to listen on port 4711/);
    assert.match(err, /another --port/);
  });

  it('ends when the connection to the node ends', async (t) => {
    const forward = `${FORWARD.replace('exec cat', 'echo "lost connection to pod" >&2; exit 1')}`;
    const { code, err } = await run(t, { exec: VIEW, 'port-forward': forward }, 'node1');
    assert.equal(code, 1);
    assert.match(err, /the connection to the node ended: lost connection to pod/);
  });

  it('knows that a node has no agent', async (t) => {
    const { code, err } = await run(t, {}, 'node2');
    assert.equal(code, 1);
    assert.match(err, /node2 does not answer: no pod of Fairlead/);
  });
});
