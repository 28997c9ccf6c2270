import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { snapshotWith } from '../../agent/servers/testing/conditions.ts';
import { gapOf, SERVER_FEATURES, type ServerReport } from '../../cluster/server-report.ts';
import { statusView } from './view.ts';

function shown(apiServer: ServerReport): string[] {
  return stripVTControlCharacters(statusView(snapshotWith({ apiServer }))).split('\n');
}

describe('status of an API server', () => {
  it('names its version, what it lacks, why, and what follows', () => {
    const lines = shown({
      version: 'v1.33',
      emulatedBy: 'v1.36.4',
      gaps: [gapOf('ServiceCIDR', 'forbidden'), gapOf('streaming lists', 'not served')],
    });
    const at = lines.indexOf('API server v1.33, emulated by v1.36.4');
    assert.deepEqual(lines.slice(at + 1, at + 4), [
      'MISSING          BECAUSE     WITHOUT IT',
      'ServiceCIDR      forbidden   service ranges unknown, unused IPs not rejected',
      'streaming lists  not served  lists are read in pages',
    ]);
  });

  it('fits into 80 columns, whatever is missing', () => {
    const gaps = SERVER_FEATURES.map((feature) => gapOf(feature, 'not served'));
    for (const line of shown({ version: 'v1.33.4-gke.1172000', gaps })) {
      assert.ok(line.length <= 80, line);
    }
  });

  it('says nothing of one that has everything', () => {
    assert.ok(!shown({ version: 'v1.37.1', gaps: [] }).join('\n').includes('API server'));
  });
});
