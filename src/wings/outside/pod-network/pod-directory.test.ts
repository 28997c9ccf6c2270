import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SourceEvent } from '../../../cluster/source.ts';
import { PodDirectory } from './pod-directory.ts';

function slice(
  key: string,
  pods: Readonly<Record<string, string>>,
  port: number | undefined = 80,
): SourceEvent {
  const endpoints = Object.entries(pods).map(([address, podName]) => ({ address, podName }));
  const [namespace] = key.split('/');
  const ports = [{ name: '', protocol: 'TCP', port }];
  const object = { namespace, addressType: 'IPv4', endpoints, ports };
  return { kind: 'slice', type: 'put', key, object } as unknown as SourceEvent;
}

it('reports an address once, as long as any slice has it', () => {
  const heard: string[] = [];
  const directory = new PodDirectory((address, isPresent) =>
    heard.push(`${isPresent ? '+' : '-'}${address}`),
  );
  directory.take(slice('shop/a', { '10.0.0.1': 'web-1', '10.0.0.2': 'web-2' }));
  directory.take(slice('shop/b', { '10.0.0.1': 'web-1' }));
  directory.take(slice('shop/a', { '10.0.0.2': 'web-2b', '10.0.0.3': 'web-3' }));
  assert.deepEqual(heard.splice(0), ['+10.0.0.1', '+10.0.0.2', '+10.0.0.3']);
  assert.deepEqual(directory.podAt('10.0.0.2', 80), { namespace: 'shop', name: 'web-2b' });
  directory.take({ kind: 'slice', type: 'delete', key: 'shop/b' });
  directory.take({ kind: 'slice', type: 'delete', key: 'shop/a' });
  assert.deepEqual(heard, ['-10.0.0.1', '-10.0.0.2', '-10.0.0.3']);
  assert.equal(directory.podAt('10.0.0.2', 80), undefined);
});

describe('an address that slices of two namespaces have', () => {
  const setup = (port: number | undefined): PodDirectory => {
    const directory = new PodDirectory(() => undefined);
    directory.take(slice('shop/web', { '10.0.0.1': 'web-1' }));
    directory.take(slice('evil/web', { '10.0.0.1': 'mine' }, port));
    return directory;
  };

  it("is nobody's, so that no namespace gets the connections to pods of another", () => {
    for (const port of [80, undefined]) {
      assert.equal(setup(port).podAt('10.0.0.1', 80), 'disputed');
    }
  });

  it("is each one's at ports of its own, as of pods with the address of their node", () => {
    const directory = setup(81);
    assert.deepEqual(directory.podAt('10.0.0.1', 80), { namespace: 'shop', name: 'web-1' });
    assert.deepEqual(directory.podAt('10.0.0.1', 81), { namespace: 'evil', name: 'mine' });
  });

  it("is the owner's again when the other slice has gone", () => {
    const directory = setup(80);
    directory.take({ kind: 'slice', type: 'delete', key: 'evil/web' });
    assert.deepEqual(directory.podAt('10.0.0.1', 80), { namespace: 'shop', name: 'web-1' });
  });
});

it('knows a namespace as long as it has a Service', () => {
  const directory = new PodDirectory(() => undefined);
  const service = (type: 'put' | 'delete', key: string): SourceEvent =>
    ({ kind: 'service', type, key, object: { clusterIPs: [] } }) as unknown as SourceEvent;
  const changes = [service('put', 'shop/a'), service('put', 'shop/a'), service('put', 'shop/b')];
  for (const change of changes) directory.take(change);
  directory.take(service('delete', 'shop/a'));
  assert.deepEqual(
    ['shop', 'sho'].map((name) => directory.hasNamespace(name)),
    [true, false],
  );
  directory.take(service('delete', 'shop/b'));
  directory.take(service('delete', 'shop/b'));
  assert.equal(directory.hasNamespace('shop'), false);
});
