import { servicePortName } from '../forwarding/model.ts';
import type { Events } from './events.ts';
import type { AgentObserver } from './observer.ts';

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
