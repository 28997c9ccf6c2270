import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { SourceEvent } from '../../cluster/source.ts';
import { PodDirectory } from './directory.ts';

function slice(key: string, pods: Readonly<Record<string, string>>): SourceEvent {
  const endpoints = Object.entries(pods).map(([address, podName]) => ({ address, podName }));
  const object = { namespace: 'shop', addressType: 'IPv4', endpoints };
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
  assert.deepEqual(directory.podAt('10.0.0.2'), { namespace: 'shop', name: 'web-2b' });
  directory.take({ kind: 'slice', type: 'delete', key: 'shop/b' });
  directory.take({ kind: 'slice', type: 'delete', key: 'shop/a' });
  assert.deepEqual(heard, ['-10.0.0.1', '-10.0.0.2', '-10.0.0.3']);
  assert.equal(directory.podAt('10.0.0.2'), undefined);
});
