import type { NotServed } from './model.ts';

/** Why an address is not served, as the second half of a sentence. */
export function notServedText(notServed: NotServed): string {
  switch (notServed.reason) {
    case 'other-service':
      return `${notServed.service} has this address and port`;
    case 'service-range':
      return `it is in the Service range ${notServed.range}`;
    case 'api-server':
      return 'the API server listens there';
    case 'host-socket':
      return 'a process of this machine holds the port';
  }
}
