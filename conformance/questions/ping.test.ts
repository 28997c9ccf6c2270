import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outcomeOfReply } from './ping.ts';

const reply = (type: number, payload: string): Buffer =>
  Buffer.concat([Buffer.from([type, 0, 0, 0, 0, 0, 0, 0]), Buffer.from(payload)]);

describe('outcomeOfReply()', () => {
  it('takes an echo reply with the payload that was sent for an echo', () => {
    assert.deepEqual(outcomeOfReply(reply(0, 'fairlead conformance'), 0), { kind: 'echoed' });
    assert.deepEqual(outcomeOfReply(reply(129, 'fairlead conformance'), 129), { kind: 'echoed' });
  });

  it('takes another type and another payload for a failure', () => {
    assert.equal(outcomeOfReply(reply(3, 'fairlead conformance'), 0).kind, 'failed');
    assert.equal(outcomeOfReply(reply(0, 'something else'), 0).kind, 'failed');
    assert.equal(outcomeOfReply(Buffer.alloc(0), 0).kind, 'failed');
  });
});
