import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutSecrets } from './secrets.ts';

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl';

describe('withoutSecrets', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['a token of a ServiceAccount', `got ${TOKEN} back`, TOKEN],
    ['a token in YAML', 'user:\n  token: s3cr3t-value\n', 's3cr3t-value'],
    ['a token in quotes', 'token: "s3cr3t value"\n', 's3cr3t value'],
    ['a token in JSON', '{"name":"a","token":"s3cr3t"}', 's3cr3t'],
    ['a password', "  password: 's3cr3t'", 's3cr3t'],
    ['a token of OAuth', 'access_token=s3cr3t&expires=3600', 's3cr3t'],
    ['a secret in the environment', 'AWS_SESSION_TOKEN=s3cr3t', 's3cr3t'],
    ['a key in the environment', 'aws_secret_access_key = s3cr3t', 's3cr3t'],
    ['a flag', 'fairlead --token=s3cr3t run', 's3cr3t'],
    ['a token in JSON inside of JSON', '{"error":"{\\"token\\":\\"s3cr3t\\"}"}', 's3cr3t'],
    ['a token in lines of YAML', 'token: |\n  s3cr3t\n  s3cr3t\nuser: a\n', 's3cr3t'],
    ['a client key', 'client-key-data: TUlJRXZR', 'TUlJRXZR'],
    ['a client certificate', 'client-certificate-data: TUlJRXZR', 'TUlJRXZR'],
    ['a header', 'Authorization: Bearer abcdefgh12345678', 'abcdefgh12345678'],
    ['a name and password in an address', 'https://user:s3cr3t@10.0.0.1:6443', 's3cr3t'],
    [
      'a key in PEM',
      '-----BEGIN RSA PRIVATE KEY-----\nTUlJ\n-----END RSA PRIVATE KEY-----',
      'TUlJ',
    ],
  ];
  for (const [what, text, secret] of cases) {
    it(`removes ${what}`, () => {
      assert.ok(!withoutSecrets(text).includes(secret), withoutSecrets(text));
    });
  }

  it('keeps everything else', () => {
    const text = 'mode: nftables\nclusterCIDR: 10.1.0.0/16\nserver: https://10.0.0.1:6443\n';
    assert.equal(withoutSecrets(text), text);
  });
});
