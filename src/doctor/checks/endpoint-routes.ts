import type { PlacedEndpoint } from '../address-places.ts';
import { check } from '../doctor-check.ts';
import { listedNames, note, orOk, problem } from '../finding.ts';

type Facts = readonly PlacedEndpoint[];

export const ENDPOINT_ROUTES = check<Facts>({
  name: 'endpoint-routes',
  read: async (subject) => (await subject.places()).endpoints,
  judge: (endpoints) => {
    const lost = endpoints.filter(({ link, isOwnAddress }) => !isOwnAddress && link === undefined);
    const astray = endpoints.filter(({ isLocal, isByDefault }) => isLocal && isByDefault);
    const down = endpoints.filter(({ link, isOwnAddress }) => !isOwnAddress && link?.up === false);
    const found = [
      ...(lost.length === 0
        ? []
        : [
            problem('ENDPOINT_NO_ROUTE', {
              what: `no route to ${named(lost)}`,
              why: 'connections that are sent to them fail, although their Services look well',
              next: "check the network plugin of this node, and `ip route get` with the endpoint's address",
            }),
          ]),
      ...(astray.length === 0
        ? []
        : [
            problem('ENDPOINT_LOCAL_BY_DEFAULT_ROUTE', {
              what: `only the default route leads to ${named(astray)}`,
              why: 'pods of this node are reached by an interface of their own; their packets leave the node',
              next: 'restart the network plugin, or the pods: their routes were deleted',
            }),
          ]),
      ...(down.length === 0
        ? []
        : [
            note('ENDPOINT_LINK_DOWN', {
              what: `the interface to ${named(down)} is down`,
              why: 'connections that are sent to them fail',
              next: 'ip link set … up, or restart the pods',
            }),
          ]),
    ];
    return orOk(found, `routes to ${endpoints.length} endpoints`);
  },
});

function named(endpoints: readonly PlacedEndpoint[]): string {
  return listedNames(endpoints.map(({ address, service }) => `${address} (${service})`));
}
