import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIELD_PATHS, FIELDS } from './field-table.ts';

test('gives a reason for every default that differs from kube-proxy’s', () => {
  const differing = FIELD_PATHS.filter((path) => FIELDS[path].ownDefault !== undefined);
  assert.ok(differing.length > 0);
  for (const path of differing) assert.ok(FIELDS[path].why, path);
});

test('only fields of the fairlead block are unknown to kube-proxy', () => {
  assert.deepEqual(
    FIELD_PATHS.filter((path) => path.startsWith('fairlead.')),
    [
      'fairlead.mode',
      'fairlead.cgroup',
      'fairlead.pinFolder',
      'fairlead.interfaces',
      'fairlead.userspace.threads',
      'fairlead.zone',
      'fairlead.scope.namespaces',
      'fairlead.scope.services',
      'fairlead.scope.serviceSelector',
      'fairlead.serviceRanges',
      'fairlead.serviceRoutes',
      'fairlead.podNetwork',
      'fairlead.dnsStub',
      'fairlead.clusterDNS',
      'fairlead.clusterDomain',
      'fairlead.nodeObject',
      'fairlead.addressRules',
      'fairlead.clients',
      'fairlead.servedAddresses',
      'fairlead.serviceMetrics',
    ],
  );
});
