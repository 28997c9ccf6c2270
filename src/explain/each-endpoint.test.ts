import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Code } from './codes.ts';
import { eachEndpoint, withEach } from './each-endpoint.ts';
import type { EachEndpoint, Explanation } from './explanation.ts';

const WHOLE = {
  code: 'REACHES',
  reaches: true,
  certainty: 'proven',
  sentence: 'it reaches',
  question: { service: 'shop/web:http', frontend: '10.96.0.10:80' },
  next: [],
} as unknown as Explanation;

const at = (last: number, code?: Code): EachEndpoint => ({
  endpoint: `10.1.0.${last}:8080`,
  nodeName: 'node1',
  ...(code === undefined ? {} : { code }),
  next: [`look at ${last}`],
});

describe('withEach()', () => {
  it('says that some fail, whichever of them the first packet met', () => {
    const each = [at(1, 'REACHES'), at(2, 'ENDPOINT_SILENT')];
    for (const code of ['REACHES', 'ENDPOINT_SILENT'] as const) {
      const joined = withEach({ ...WHOLE, code }, each);
      assert.equal(joined.code, 'SOME_ENDPOINTS_FAIL');
      assert.equal(joined.certainty, 'contradicted');
      assert.equal(
        joined.sentence,
        '1 of 2 endpoints of shop/web:http does not answer, and new connections get any of them: 10.1.0.2:8080 (ENDPOINT_SILENT)',
      );
      assert.deepEqual(joined.next, ['look at 2']);
    }
  });

  it('keeps the first answer where all do the same, or none was asked', () => {
    for (const codes of [
      ['REACHES', 'REACHES'],
      ['NO_ROUTE', 'NO_ROUTE'],
      ['NOT_TRANSLATED'],
      [],
    ]) {
      const each = codes.map((code, index) => at(index, code as Code));
      assert.equal(withEach(WHOLE, each).code, 'REACHES', codes.join());
    }
    assert.equal(withEach(WHOLE, [at(1, 'ENDPOINT_SILENT'), at(2)]).code, 'REACHES');
  });
});

it('keeps of an endpoint what came back, and when', () => {
  const proof = { answer: { is: 'accepted', afterMs: 0.4 } };
  const explained = { ...WHOLE, proof } as unknown as Explanation;
  const share = { endpoint: '10.1.0.1:8080', nodeName: 'node1' };
  assert.equal(eachEndpoint(share, explained).answeredWithinMs, 1);
  assert.equal(eachEndpoint(share, undefined).code, undefined);
});
