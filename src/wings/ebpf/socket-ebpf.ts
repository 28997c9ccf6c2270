import { hooksInFront } from './hooks-in-front.ts';
import { SOCKET_HOOKS_PART } from './hooks-part.ts';

export const SOCKET_EBPF = hooksInFront({
  name: 'socket-ebpf',
  part: SOCKET_HOOKS_PART,
  hooks: 'socket hooks',
  socketsOf: 'this node and its pods',
  unseenSources: ['pod', 'host'],
  placeOf: ({ clientInterfaces, ownAddresses }) => ({
    podsMet: 'at sockets',
    // A hook does not see by which interface the connection of another socket would leave.
    onlyOwnSockets: clientInterfaces !== undefined,
    ownAddresses: new Set(ownAddresses),
  }),
});
