import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClusterError } from '../../cluster/cluster-error.ts';
import { gapOf } from '../../cluster/server-report.ts';
import { createLogger } from '../../log/logger.ts';
import { sourceLog } from './source-log.ts';
import { textLine } from './stream-logger.ts';

function logged(): { readonly lines: string[]; readonly log: ReturnType<typeof sourceLog> } {
  const lines: string[] = [];
  const logger = createLogger('debug', (record) => {
    lines.push(textLine(record, 0).replace(/^(.)\S+ \S+ /, '$1 '));
  });
  return { lines, log: sourceLog(logger) };
}

const GAPS = [gapOf('ServiceCIDR', 'not served'), gapOf('streaming lists', 'not served')];

describe('the log of a source', () => {
  it('warns in one line about what the API server lacks, and the effect', () => {
    const { lines, log } = logged();
    log.onServer({ version: 'v1.32.9', gaps: GAPS });
    assert.deepEqual(lines, [
      'W API server lacks features version=v1.32.9 missing="no ServiceCIDR (not served): ' +
        'service ranges unknown, unused IPs not rejected; ' +
        'no streaming lists (not served): lists are read in pages"',
    ]);
  });

  it('logs a problem of all watches once, with the next step', () => {
    const { lines, log } = logged();
    const next = 'check certificate-authority';
    const cause = new Error('self-signed certificate');
    for (const kind of ['service', 'slice', 'node'] as const) {
      log.onProblem(new ClusterError('CLUSTER_TLS', 'TLS handshake failed', { next, cause }), kind);
    }
    log.onProblem(new ClusterError('CLUSTER_CONNECTION_LOST', 'connection lost', { next: '-' }));
    assert.deepEqual(lines, [
      'E TLS handshake failed: self-signed certificate; check certificate-authority code=CLUSTER_TLS',
      'W connection lost code=CLUSTER_CONNECTION_LOST',
    ]);
  });

  it('logs each rejected request at debug level only', () => {
    const { lines, log } = logged();
    log.onMissing(new ClusterError('CLUSTER_ANSWER', 'watch x: 404', { next: '' }), 'serviceCidr');
    assert.deepEqual(lines, ['D watch x: 404']);
  });

  it('logs when nothing is missing again, unless nothing ever was', () => {
    const { lines, log } = logged();
    log.onServer({ version: 'v1.37.1', gaps: [] });
    log.onServer({ version: 'v1.32.9', gaps: GAPS });
    log.onServer({ version: 'v1.37.1', gaps: [] });
    assert.deepEqual(
      lines.map((line) => line[0]),
      ['D', 'W', 'I'],
    );
  });
});
