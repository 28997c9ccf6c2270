import { check } from '../doctor-check.ts';
import { listedNames, note, ok } from '../finding.ts';
import { nodePortsOf } from '../node-ports.ts';

interface Facts {
  readonly nodePorts: readonly number[];
  /** `32768 60999`. */
  readonly range: string;
  /** `30000-30100,31000`, or empty. */
  readonly reserved: string;
}

export const NODE_PORT_RANGE = check<Facts>({
  name: 'node-port-range',
  read: ({ node, sysctls }) => ({
    nodePorts: [...new Set(nodePortsOf(node?.rows ?? []).map(({ port }) => port))],
    range: sysctls.read('net/ipv4/ip_local_port_range'),
    reserved: sysctls.read('net/ipv4/ip_local_reserved_ports'),
  }),
  judge: ({ nodePorts, range, reserved }) => {
    const [first = 0, last = 0] = range.split(' ').map(Number);
    const isReserved = reservation(reserved);
    const shared = nodePorts.filter((port) => port >= first && port <= last && !isReserved(port));
    const what = `net.ipv4.ip_local_port_range = ${range}`;
    if (shared.length === 0) return [ok(what)];
    const ports = listedNames(shared.sort((a, b) => a - b).map(String));
    return [
      note('NODE_PORT_IN_LOCAL_RANGE', {
        what: `${what} has the node ports ${ports}`,
        why: 'the kernel gives these ports to outgoing connections of the node; a process that listens on one loses its clients to the Service',
        next: 'set net.ipv4.ip_local_port_range or net.ipv4.ip_local_reserved_ports so that node ports are left out',
      }),
    ];
  },
});

function reservation(text: string): (port: number) => boolean {
  const ranges = text.split(',').filter((part) => part !== '');
  const bounds = ranges.map((part) => part.split('-').map(Number));
  return (port) => bounds.some(([first = 0, last = first]) => port >= first && port <= last);
}
