import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { laptopRights, parseSubject } from './laptop-rights.ts';

describe('parseSubject', () => {
  it('reads what RBAC binds to', () => {
    const apiGroup = 'rbac.authorization.k8s.io';
    const jane = { kind: 'User', name: 'jane@example.org', apiGroup };
    assert.deepEqual(parseSubject('user:jane@example.org'), jane);
    assert.deepEqual(parseSubject('group:oidc:dev'), { kind: 'Group', name: 'oidc:dev', apiGroup });
    assert.deepEqual(parseSubject('serviceaccount:ci/runner'), {
      kind: 'ServiceAccount',
      name: 'runner',
      namespace: 'ci',
    });
  });

  it('rejects what would bind to nobody, or to somebody else', () => {
    for (const text of [
      'jane',
      'user:',
      'serviceaccount:runner',
      'serviceaccount:a/b/c',
      'Root:x',
    ]) {
      assert.throws(() => parseSubject(text), { code: 'commander.invalidArgument' }, text);
    }
  });
});

describe('laptopRights', () => {
  const jane = parseSubject('user:jane');

  it('grants a Role in each namespace, and nothing outside of them', () => {
    const objects = laptopRights(jane, ['shop', 'billing']);
    assert.deepEqual(
      objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}`),
      ['Role shop', 'RoleBinding shop', 'Role billing', 'RoleBinding billing'],
    );
    assert.deepEqual(objects[0]?.['rules'], [
      { apiGroups: [''], resources: ['services'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['pods/portforward'], verbs: ['get', 'create'] },
    ]);
    assert.deepEqual(objects[1]?.['subjects'], [jane]);
    const other = laptopRights(parseSubject('user:a/b%'), ['shop']);
    const names = [...objects, ...other].map(({ metadata }) => metadata.name);
    assert.deepEqual(
      [names[1], names[5]],
      ['fairlead-shell:user:jane', 'fairlead-shell:user:a-b-'],
    );
  });

  it('grants a ClusterRole when no namespace is named', () => {
    const kinds = laptopRights(jane, []).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['ClusterRole', 'ClusterRoleBinding']);
  });
});
