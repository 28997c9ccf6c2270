import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { identityOf, pathOf, type RightsOptions, rightsFor } from './machine-rights.ts';

const READ = ['list', 'watch'];
const SERVICES = { apiGroups: [''], resources: ['services'], verbs: READ };
const SLICES = { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: READ };
const CIDRS = { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'], verbs: READ };
const TOKEN = {
  apiGroups: [''],
  resources: ['serviceaccounts/token'],
  resourceNames: ['fairlead-db1'],
  verbs: ['create'],
};

const ALL: RightsOptions = {
  name: 'fairlead-db1',
  namespace: 'kube-system',
  scope: undefined,
  canRenew: true,
  readsNamespaces: false,
};

/** `Role shop: rules`, for every role. */
function rolesOf(options: RightsOptions): Readonly<Record<string, unknown>> {
  const roles = rightsFor(options).filter(({ rules }) => rules !== undefined);
  return Object.fromEntries(
    roles.map(({ kind, metadata, rules }) => [`${kind} ${metadata.namespace ?? ''}`.trim(), rules]),
  );
}

function scoped(scope: Partial<NonNullable<RightsOptions['scope']>>): RightsOptions {
  return { ...ALL, scope: { namespaces: [], services: [], ...scope } };
}

describe('rightsFor', () => {
  it('lets a machine without a scope read all Services, and renew its own token', () => {
    assert.deepEqual(rolesOf(ALL), {
      ClusterRole: [SERVICES, SLICES, CIDRS],
      'Role kube-system': [TOKEN],
    });
  });

  it('has no right to a token that is not renewed', () => {
    assert.deepEqual(rolesOf({ ...ALL, canRenew: false }), {
      ClusterRole: [SERVICES, SLICES, CIDRS],
    });
  });

  it('reads labels of namespaces in modes that follow them', () => {
    const namespaces = { apiGroups: [''], resources: ['namespaces'], verbs: READ };
    assert.deepEqual(rolesOf({ ...ALL, readsNamespaces: true })['ClusterRole'], [
      SERVICES,
      SLICES,
      CIDRS,
      namespaces,
    ]);
  });

  it('grants Roles only for namespaces', () => {
    assert.deepEqual(rolesOf(scoped({ namespaces: ['shop', 'bank'] })), {
      'Role shop': [SERVICES, SLICES],
      'Role bank': [SERVICES, SLICES],
      'Role kube-system': [TOKEN],
    });
  });

  it('grants Services by their names, in one Role with the token', () => {
    const services = ['shop/web', 'shop/api', 'kube-system/kube-dns'];
    assert.deepEqual(rolesOf(scoped({ services })), {
      'Role shop': [{ ...SERVICES, resourceNames: ['web', 'api'] }, SLICES],
      'Role kube-system': [{ ...SERVICES, resourceNames: ['kube-dns'] }, SLICES, TOKEN],
    });
  });

  it('does not name Services of a namespace that is granted as a whole', () => {
    assert.deepEqual(rolesOf(scoped({ namespaces: ['shop'], services: ['shop/web'] })), {
      'Role shop': [SERVICES, SLICES],
      'Role kube-system': [TOKEN],
    });
  });

  it('needs a ClusterRole for a selector in all namespaces', () => {
    const options = scoped({ serviceSelector: 'app=web', services: ['kube-system/kube-dns'] });
    assert.deepEqual(rolesOf(options), {
      ClusterRole: [SERVICES, SLICES, CIDRS],
      'Role kube-system': [TOKEN],
    });
  });

  it('binds each role to the account and to nothing else', () => {
    for (const options of [ALL, scoped({ namespaces: ['shop'] })]) {
      const bindings = rightsFor(options).filter(({ kind }) => kind.endsWith('Binding'));
      assert.equal(bindings.length, 2);
      for (const { kind, roleRef, subjects, metadata } of bindings) {
        assert.deepEqual(subjects, [
          { kind: 'ServiceAccount', name: 'fairlead-db1', namespace: 'kube-system' },
        ]);
        assert.deepEqual(roleRef, {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: kind.replace('Binding', ''),
          name: metadata.name,
        });
      }
    }
  });
});

describe('pathOf', () => {
  it('is the path of every object that is made', () => {
    assert.deepEqual(
      rightsFor(ALL).map((manifest) => pathOf(identityOf(manifest))),
      [
        '/api/v1/namespaces/kube-system/serviceaccounts/fairlead-db1',
        '/apis/rbac.authorization.k8s.io/v1/clusterroles/fairlead-db1',
        '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/fairlead-db1',
        '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/fairlead-db1',
        '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings/fairlead-db1',
      ],
    );
  });

  it('is undefined for a kind that Fairlead never makes', () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', namespace: 'a', name: 'b' };
    assert.equal(pathOf(secret), undefined);
    assert.equal(pathOf({ ...secret, kind: 'toString' }), undefined);
  });
});
