import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run, tryRun } from '../host/run.ts';
import { until } from '../host/until.ts';
import { removeLab } from '../lab.ts';

const LAB = join(import.meta.dirname, '../main.ts');
const NAME = `c${randomBytes(3).toString('hex')}`;
const LONG_MS = 180_000;
const DEADLINE_MS = 60_000;

function lab(verb: string, ...args: string[]): Promise<string> {
  const argv = [process.execPath, LAB, verb, '--name', NAME, ...args] as const;
  return run([...argv], { deadlineMs: DEADLINE_MS });
}

async function endpointCount(): Promise<number> {
  const jsonPath = '{.items[?(@.addressType=="IPv4")].endpoints[*].addresses[0]}';
  const labels = 'kubernetes.io/service-name=web';
  const text = await lab(
    'kubectl',
    'get',
    'endpointslices',
    '-l',
    labels,
    '-o',
    `jsonpath=${jsonPath}`,
  );
  return text.split(' ').filter((address) => address !== '').length;
}

describe('commands on a lab that is up', { timeout: LONG_MS }, () => {
  before(async () => {
    await lab('up', '--proxy', 'fairlead-socket-ebpf');
  });
  after(() => removeLab(NAME));

  it('exec is in the control group of its node, so that its sockets are served', async () => {
    for (const [host, node] of [
      ['node1', 'node1'],
      ['default-web-2', 'node2'],
    ] as const) {
      const groups = await lab('exec', host, '--', 'cat', '/proc/self/cgroup');
      assert.match(groups, new RegExp(`^0::/fairlead-${NAME}-sockets/${node}$`, 'm'));
    }
    const outside = await lab('exec', 'client', '--', 'cat', '/proc/self/cgroup');
    assert.doesNotMatch(outside, /sockets/);
  });

  it('scale adds pods with addresses of their own, and ends the newest', async () => {
    const three = await lab('scale', 'web', '3');
    assert.match(three, /^web has 3 pods$/m);
    assert.match(three, /^web-3 +node1 +10\.129\.0\.3$/m);
    await until(async () => (await endpointCount()) === 3, {
      what: 'three endpoints',
      deadlineMs: DEADLINE_MS,
    });
    assert.match(await lab('scale', 'web', '1'), /^web has 1 pod$/m);
    const gone = await tryRun([
      process.execPath,
      LAB,
      'exec',
      '--name',
      NAME,
      'default-web-3',
      'true',
    ]);
    assert.equal(gone.exitCode, 1);
    assert.match(gone.stderr, /^lab: lab '.*' has no host 'default-web-3'/);
  });

  it('fairlead talks to the agent of the node', async () => {
    assert.match(await lab('fairlead', 'node2', 'status'), /node2/);
  });
});
