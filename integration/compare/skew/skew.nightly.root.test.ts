import assert from 'node:assert/strict';
import { it } from 'node:test';
import { faultsOf, runVersion } from './run-version.ts';

it('serves packets with an API server of 1.33, and logs what it lacks in one line', async () => {
  const names = [
    'cluster-ip/tcp-from-pods',
    'cluster-ip/unassigned-address',
    'node-port/from-outside',
    'topology/same-zone-alias',
    'endpoint-changes/readiness-flips',
  ];
  const result = await runVersion({ version: '1.33', proxy: 'fairlead-nftables', names });
  assert.deepEqual(faultsOf(result), []);
  assert.equal(result.results.length, names.length);
  assert.equal(result.server.version, 'v1.33');
  assert.deepEqual(
    result.server.gaps.map(({ feature }) => feature),
    ['streaming lists'],
  );
  for (const [line = ''] of result.warnings) assert.match(line, /version=v1\.33 .*streaming lists/);
});
