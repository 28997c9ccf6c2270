import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { service } from './testing/example-surroundings.ts';
import { whyUnserved } from './unserved-service.ts';

describe('why a Service has no row', () => {
  it('says that the API server would give it a clusterIP, which manifests lack', () => {
    const bare = service({ clusterIPs: [] });
    const written = whyUnserved(bare, { from: 'manifests' });
    assert.equal(written?.cause, 'no cluster IP');
    assert.match(
      written?.text ?? '',
      /^Service shop\/web has no clusterIP in these manifests: the/,
    );
    assert.equal(whyUnserved(bare, { from: 'cluster' })?.text, 'Service shop/web has no clusterIP');
  });

  it('names headless and ExternalName Services, and those of another proxy', () => {
    const cause = (parts: Parameters<typeof service>[0]) =>
      whyUnserved(service(parts), { from: 'cluster' })?.cause;
    assert.equal(cause({ clusterIPs: ['None'] }), 'headless');
    assert.equal(cause({ type: 'ExternalName', clusterIPs: [] }), 'external name');
    assert.equal(cause({ proxyName: 'other' }), 'other proxy');
    assert.equal(cause({}), undefined);
  });
});
