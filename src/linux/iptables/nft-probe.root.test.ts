import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import { probeRules } from './nft-probe.ts';
import { connect } from './testing/nft-tables.ts';

beforeEach(enterOwnNetwork);

const MASQUERADE = { table: 'nat', rule: '-j MASQUERADE --random-fully' } as const;

describe('a probe', () => {
  it('commits nothing, and returns undefined for rules that the kernel accepts', async () => {
    using connection = connect();
    const before = await connection.generation();
    assert.equal(await probeRules(connection, 'ip', [MASQUERADE]), undefined);
    assert.equal(await connection.generation(), before);
    assert.equal(run(['nft', 'list', 'ruleset']), '');
  });

  it('names the rule that the kernel rejects', async () => {
    using connection = connect();
    const elsewhere = { table: 'filter', rule: MASQUERADE.rule } as const;
    const why = await probeRules(connection, 'ip6', [MASQUERADE, elsewhere]);
    assert.match(why ?? '', /MASQUERADE.*EINVAL/);
    assert.equal(run(['nft', 'list', 'ruleset']), '');
  });

  it('names the rule that has no encoding here', async () => {
    using connection = connect();
    const rule = '-m limit --limit 1/sec -j RETURN';
    assert.match((await probeRules(connection, 'ip', [{ table: 'nat', rule }])) ?? '', /limit/);
  });
});
