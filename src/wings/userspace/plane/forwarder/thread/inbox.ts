import type { AddressCalls } from '../../../../../linux/sockets/address-calls.ts';
import type { FromThread, ToThread } from '../messages.ts';
import type { Acceptor } from './acceptor.ts';
import { findConnections, listConnections } from './connection-list.ts';
import type { Dialler } from './dialler.ts';
import type { Endings } from './endings.ts';
import type { MovingPairs } from './moving-pairs.ts';
import type { Sticking } from './sticking.ts';

interface InboxParts {
  readonly sticking: Sticking;
  readonly dialler: Dialler;
  readonly endings: Endings;
  readonly acceptor: Acceptor;
  readonly moving: MovingPairs;
  readonly calls: AddressCalls;
  readonly tell: (message: FromThread) => void;
}

/** Handles one message of the main thread; false: the thread is to stop. */
export function handleMessage(of: InboxParts, message: ToThread): boolean {
  const { sticking, endings, acceptor, moving, tell } = of;
  switch (message.tell) {
    case 'gone':
      of.dialler.redialFrom(new Set(message.slots));
      return true;
    case 'stick':
      sticking.answer(message.connection, message.slot);
      return true;
    case 'pulse':
      tell({
        tell: 'pulse',
        id: message.id,
        open: endings.pairs.size,
        hasRoom: acceptor.takeHadRoom(),
      });
      return true;
    case 'connections': {
      const first = listConnections(endings.pairs, message.most, of.calls);
      tell({ tell: 'connections', id: message.id, first, count: endings.pairs.size });
      return true;
    }
    case 'end': {
      const found = findConnections(endings.pairs, message.connections);
      for (const pair of found) endings.reset(pair);
      tell({ tell: 'ended', id: message.id, count: found.length });
      return true;
    }
    case 'stop-accepting':
    case 'accept-again':
      acceptor.setWanted(message.tell === 'accept-again');
      tell({ tell: 'done', id: message.id, open: endings.pairs.size });
      return true;
    case 'give-pairs':
      tell({ tell: 'moved', id: message.id, pairs: moving.give() });
      return true;
    case 'given':
      moving.settle(message.taken);
      tell({ tell: 'done', id: message.id, open: endings.pairs.size });
      return true;
    case 'take-pairs':
      moving.take(message.pairs);
      return true;
    case 'stop':
      for (const pair of endings.pairs) endings.reset(pair);
      return false;
  }
}
