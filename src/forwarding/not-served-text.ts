import type { NotServed } from './model.ts';

/** Why an address is not served, as the end of a sentence. */
export function notServedText(notServed: NotServed): string {
  switch (notServed.reason) {
    case 'other-service':
      return `${notServed.service} already has this address and port`;
    case 'service-range':
      return `it is in the Service CIDR ${notServed.range}`;
    case 'outside-ranges':
      return notServed.ranges.length === 0
        ? 'no Service range is configured (fairlead.serviceRanges)'
        : `it is outside of the configured Service ranges ${notServed.ranges.join(', ')}`;
    case 'api-server':
      return 'it is an address of the API server';
    case 'host-socket':
      return 'a process on this machine listens on the port';
  }
}
