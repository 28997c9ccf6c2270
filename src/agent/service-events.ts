import { type ServicePortId, servicePortName } from '../forwarding/model.ts';
import type { NotServedFrontend } from '../forwarding/not-served.ts';
import { notServedLine } from './address-watch.ts';
import type { Events } from './kubernetes-events.ts';
import type { AgentObserver } from './observer.ts';

/**
 * Events for the owner of a Service: an address is not served, or the Service gets the clients of a
 * process. Neither that process nor a Service of another namespace is named: the reader may not be
 * permitted to see them.
 */
export function addressEvents(
  events: Pick<Events, 'addressNotServed' | 'nodePortHeld'>,
  nodeName: string,
): AgentObserver {
  return {
    onNotServed: (frontend) => {
      const line = notServedLine(withoutForeignNames(frontend));
      const isOfNode = frontend.notServed.reason === 'host-socket';
      const note = isOfNode ? `${line} (node ${nodeName})` : line;
      events.addressNotServed(serviceOf(frontend.row.id), { note, isOfCluster: !isOfNode });
    },
    onNodePortConflict: ({ service, socket }) => {
      const [namespace = '', name = ''] = service.split('/', 2);
      const note =
        `node port ${socket.port}/${socket.protocol} is also used by a process on node ` +
        `${nodeName}: clients of that process reach this Service instead`;
      events.nodePortHeld({ namespace, name }, note);
    },
  };
}

function withoutForeignNames(report: NotServedFrontend): NotServedFrontend {
  const { row, notServed } = report;
  if (notServed.reason !== 'other-service') return report;
  if (notServed.service.startsWith(`${row.id.namespace}/`)) return report;
  return { ...report, notServed: { ...notServed, service: 'a Service of another namespace' } };
}

function serviceOf({ namespace, service }: ServicePortId): { namespace: string; name: string } {
  return { namespace, name: service };
}

/** Shorter delays are not worth an Event, and a large Service changes often on every node of the cluster. */
const NOTICED_AFTER_MS = 1000;

/** Events for the owner of a Service that is so large that it is written in parts. */
export function pacedEvents(events: Pick<Events, 'servicePaced'>): AgentObserver {
  return {
    onPart: ({ id, objectCount, elapsedMs }) => {
      if (elapsedMs < NOTICED_AFTER_MS) return;
      const objects = objectCount.toLocaleString('en-US');
      const note = `${servicePortName(id)} is written in parts: it has up to ${objects} kernel objects`;
      events.servicePaced({ namespace: id.namespace, name: id.service }, note);
    },
  };
}
