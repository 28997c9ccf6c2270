import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { Netlink } from '../../linux/netlink/netlink-socket.ts';
import { GenerationWatch } from '../../linux/nftables/generation-watch.ts';
import { watchRuleEvents } from './rule-events.ts';

/** Receives nothing until it is aborted. */
const SILENT: Netlink = {
  portId: 1,
  send: async () => undefined,
  receive: () => [],
  listen: async (_listener, signal) => {
    if (!signal.aborted) await once(signal, 'abort');
  },
  [Symbol.dispose]: () => undefined,
};

describe('watchRuleEvents', () => {
  it('ends with the failure when the generation of the rules cannot be read', async () => {
    const failure = new Error('no buffer space');
    const watching = watchRuleEvents(
      {
        netlink: SILENT,
        isOurs: () => false,
        concerns: () => false,
        describe: () => [],
        reported: () => ({ note: () => undefined, noteEverything: () => undefined }),
        losses: new GenerationWatch({
          ownCommits: () => {
            throw failure;
          },
          generation: async () => 1,
        }),
      },
      () => assert.fail('nothing has changed'),
      AbortSignal.timeout(5_000),
    );
    await assert.rejects(watching, failure);
  });
});
