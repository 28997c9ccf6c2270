import type { FromThread, ThreadStart, ToThread } from '../messages.ts';

/** A thread that accepts nothing and answers every request, for tests of the main thread. */
export function runIdleThread({ port }: ThreadStart): void {
  const tell = (message: FromThread): void => port.postMessage(message);
  port.on('message', (message: ToThread) => {
    switch (message.tell) {
      case 'pulse':
        tell({ tell: 'pulse', id: message.id, open: 0 });
        return;
      case 'connections':
        tell({ tell: 'connections', id: message.id, first: [], count: 0 });
        return;
      case 'end':
        tell({ tell: 'ended', id: message.id, count: 0 });
        return;
      case 'stop-accepting':
      case 'accept-again':
        tell({ tell: 'done', id: message.id, open: 0 });
        return;
      case 'give-pairs':
        tell({ tell: 'moved', id: message.id, pairs: [] });
        return;
      case 'stop':
        port.close();
    }
  });
  tell({ tell: 'ready' });
}
