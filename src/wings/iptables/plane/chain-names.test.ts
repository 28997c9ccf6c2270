import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServicePortId } from '../../../forwarding/model.ts';
import { endpointChainName, isRowChain, rowChainNames } from './chain-names.ts';

const id = (namespace: string, service: string, port: string): ServicePortId => ({
  namespace,
  service,
  port,
  protocol: 'TCP',
  family: 'IPv4',
});

describe('names of chains', () => {
  it('are those of kube-proxy', () => {
    assert.equal(rowChainNames(id('ns1', 'svc1', 'p80')).cluster, 'KUBE-SVC-XPGD46QRK7WJZT7O');
    assert.equal(
      rowChainNames(id('default', 'kubernetes', 'https')).external,
      'KUBE-EXT-NPX46M4PTMTKRN6Y',
    );
    assert.equal(
      endpointChainName(id('ns1', 'svc1', 'p80'), '10.180.0.1:80'),
      'KUBE-SEP-SXIVWICOYRO3J4NJ',
    );
  });

  it('distinguish chains of rows from shared chains', () => {
    assert.ok(isRowChain('KUBE-FW-XPGD46QRK7WJZT7O'));
    assert.ok(!isRowChain('KUBE-SERVICES'));
    assert.ok(!isRowChain('KUBE-FORWARD'));
  });
});
