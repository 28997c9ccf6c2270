import { FROZEN_FAULT } from '../faults/plane/forwarder/frozen-fault.ts';
import { FULL_FAULT } from '../faults/plane/forwarder/full-fault.ts';
import { forwarderKilled } from '../faults/plane/forwarder/kill-fault.ts';
import { PORTS_FAULT } from '../faults/plane/forwarder/ports-fault.ts';
import { streamsAcrossReplacements } from '../faults/plane/forwarder/streams-fault.ts';
import type { Trap } from './trap.ts';

const STREAMS = streamsAcrossReplacements({ streams: 300, replacements: 0 });
const STREAMS_REPLACED = streamsAcrossReplacements({ streams: 600, replacements: 2 });

/** Each was met by a prototype of the forwarder; docs/faults.md has the table of what caught them. */
export const TRAPS: readonly Trap[] = [
  {
    name: 'first words',
    title: 'what an endpoint says in the event that tells of its connection is not read',
    planted: [
      {
        in: 'forwarder',
        replace: 'this.#copier.onEvent(pair.toClient, mask);',
        by: '',
        writtenIn: 'src/wings/userspace/plane/forwarder/thread/thread.ts',
      },
    ],
    caughtBy: STREAMS,
  },
  {
    name: 'short read with the end',
    title: 'a short read is taken for the last one although the end of the stream came with it',
    planted: [
      {
        in: 'forwarder',
        replace: 'if ((mask & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) !== 0) stream.isEnding = true;',
        by: '',
        writtenIn: 'src/wings/userspace/plane/forwarder/thread/copier.ts',
      },
    ],
    caughtBy: STREAMS,
  },
  {
    name: 'ports are not used again',
    title:
      'ports of connections that have ended are not used again for a minute (`tcp_tw_reuse` of the kernel as it was)',
    planted: [],
    act: async (scene) => {
      await scene.onNode('sysctl', '-qw', 'net.ipv4.tcp_tw_reuse=2');
    },
    caughtBy: PORTS_FAULT,
  },
  {
    name: 'own lateness',
    title: 'deadlines are compared with the time after the kernel was asked for events',
    planted: [
      {
        in: 'forwarder',
        replace: 'this.#waits.handleLate(askedAtMs, late)',
        by: 'this.#waits.handleLate(this.#clock(), late)',
        writtenIn: 'src/wings/userspace/plane/forwarder/thread/thread.ts',
      },
    ],
    caughtBy: FROZEN_FAULT,
  },
  {
    name: 'listener left behind',
    title: 'a second listener shares the port (SO_REUSEPORT), and no thread accepts from it',
    planted: [
      {
        in: 'agent',
        replace: '    setInherited(fd);\n',
        by: '    setInherited(fd);\n    set(fd, { level: SOL_SOCKET, name: 15, value: 1 });\n',
        writtenIn: 'src/linux/sockets/listener.ts',
      },
      {
        in: 'agent',
        replace: '    return { fd, port: listenerPort(fd) };\n',
        by: `    const port = listenerPort(fd);
    const left = socket(isIPv6 ? AF_INET6 : AF_INET, type, 0);
    set(left, { level: SOL_SOCKET, name: 15, value: 1 });
    set(left, { level: isIPv6 ? SOL_IPV6 : SOL_IP, name: freebind, value: 1 });
    if (isIPv6) set(left, { level: SOL_IPV6, name: IPV6_V6ONLY, value: 1 });
    bind(left, memory.address, encodeSocketAddress(memory.bytes, { address, port }));
    listen(left, BACKLOG);
    return { fd, port };
`,
        writtenIn: 'src/linux/sockets/listener.ts',
      },
    ],
    caughtBy: forwarderKilled(1),
  },
  {
    name: 'given and still watched',
    title: 'sockets that another forwarder has taken stay in the epoll of the one that gave them',
    planted: [
      {
        in: 'forwarder',
        replace: '    this.forget(stream);\n    this.#epoll.remove(stream.from);\n',
        by: '',
        writtenIn: 'src/wings/userspace/plane/forwarder/thread/socket-table.ts',
      },
    ],
    caughtBy: STREAMS_REPLACED,
  },
  {
    name: 'no room is not told',
    title: 'a forwarder whose descriptors are used up still says that it accepts',
    planted: [
      {
        in: 'forwarder',
        replace: 'openConnections < mostConnections * FULL_SHARE',
        by: 'true',
        writtenIn: 'src/wings/userspace/plane/forwarder/requests.ts',
      },
    ],
    caughtBy: FULL_FAULT,
  },
];
