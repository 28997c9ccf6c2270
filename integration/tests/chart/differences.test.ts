import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { differences } from './differences.ts';
import { objectsOf } from './objects.ts';

const DAEMON_SET = `
kind: DaemonSet
metadata: { name: a, namespace: n }
spec: { args: [x, y], volumes: [{ name: one, path: /1 }, { name: two, path: /2 }] }
`;
const CONFIG_MAP = `
kind: ConfigMap
metadata: { name: c }
data:
  f: |
    # a comment
    mode: nftables
`;

function compare(kustomize: string, chart: string): string[] {
  return differences(objectsOf(kustomize), objectsOf(chart));
}

describe('differences', () => {
  it('finds none between a text and itself', () => {
    assert.deepEqual(compare(`${DAEMON_SET}---${CONFIG_MAP}`, `${CONFIG_MAP}---${DAEMON_SET}`), []);
  });

  it('names the field, with the values on both sides', () => {
    assert.deepEqual(compare(DAEMON_SET, DAEMON_SET.replace('/2', '/3')), [
      'DaemonSet n/a spec volumes two path\n    kustomize  "/2"\n    chart      "/3"',
    ]);
  });

  it('names every field of an object that one side lacks', () => {
    const [first = '', ...more] = compare(CONFIG_MAP, '');
    assert.match(
      first,
      /^ConfigMap \/c data f mode\n {4}kustomize {2}"nftables"\n {4}chart {6}nothing$/,
    );
    assert.equal(more.length, 2);
  });

  it('compares the order of arguments, and not that of volumes', () => {
    const volumes = 'volumes: [{ name: two, path: /2 }, { name: one, path: /1 }]';
    assert.deepEqual(compare(DAEMON_SET, DAEMON_SET.replace(/volumes.*\]/, volumes)), []);
    assert.equal(compare(DAEMON_SET, DAEMON_SET.replace('[x, y]', '[y, x]')).length, 2);
  });

  it('reads the files of a ConfigMap, without their comments', () => {
    assert.deepEqual(compare(CONFIG_MAP, CONFIG_MAP.replace('# a comment', '# another')), []);
    assert.equal(compare(CONFIG_MAP, CONFIG_MAP.replace('nftables', 'iptables')).length, 1);
  });

  it('takes a text for a number as different from the number', () => {
    const numbers = 'kind: K\nmetadata: { name: n }\nport: 1\n';
    assert.equal(compare(numbers, numbers.replace('port: 1', 'port: "1"')).length, 1);
  });

  it('finds an empty list where the other side has no field', () => {
    const bare = 'kind: K\nmetadata: { name: n }\n';
    assert.equal(compare(bare, `${bare}list: []\n`).length, 1);
  });
});
