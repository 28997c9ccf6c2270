import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failureOf } from './failure.ts';

const messageOf = (error: Error): string => failureOf(error, 0).message;

describe('the message of a failure', () => {
  it('has the causes, one after the other', () => {
    const cause = new Error('no answer', { cause: new Error('EIO') });
    assert.equal(messageOf(new Error('cannot write', { cause })), 'cannot write: no answer: EIO');
  });

  it('has a cause once that its error quotes', () => {
    const cause = new Error('no program in PATH');
    const quoting = new Error('iptables: no program in PATH', { cause });
    assert.equal(messageOf(quoting), 'iptables: no program in PATH');
  });
});
