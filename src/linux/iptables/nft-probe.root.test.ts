import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import { probeRules } from './nft-probe.ts';
import { connect } from './testing/nft-tables.ts';

beforeEach(enterOwnNetwork);

const MASQUERADE = { table: 'nat', rule: '-j MASQUERADE --random-fully' } as const;

describe('a probe', () => {
  it('leaves nothing, and says nothing of what the kernel takes', async () => {
    using connection = connect();
    const before = await connection.generation();
    assert.equal(await probeRules(connection, 'ip', [MASQUERADE]), undefined);
    assert.equal(await connection.generation(), before);
    assert.equal(run(['nft', 'list', 'ruleset']), '');
  });

  it('says what the kernel does not take', async () => {
    using connection = connect();
    const elsewhere = { table: 'filter', rule: MASQUERADE.rule } as const;
    const why = await probeRules(connection, 'ip6', [MASQUERADE, elsewhere]);
    assert.match(why ?? '', /MASQUERADE.*EINVAL/);
    assert.equal(run(['nft', 'list', 'ruleset']), '');
  });

  it('says what nobody here can write', async () => {
    using connection = connect();
    const rule = '-m limit --limit 1/sec -j RETURN';
    assert.match((await probeRules(connection, 'ip', [{ table: 'nat', rule }])) ?? '', /limit/);
  });
});
