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
    const down = endpoints.filter(({ isLinkDown, isOwnAddress }) => !isOwnAddress && isLinkDown);
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
              what: `${linkOf(down)}to ${named(down)} is down, or has no carrier`,
              why: 'connections that are sent to them fail',
              next: `ip link show ${down[0]?.link?.name ?? ''}; set it up, or restart the pods`,
            }),
          ]),
    ];
    return orOk(found, `routes to ${endpoints.length} endpoints`);
  },
});

/** Of several, the first: they are listed. */
function linkOf([first]: readonly PlacedEndpoint[]): string {
  return `interface ${first?.link?.name ?? ''} `;
}

function named(endpoints: readonly PlacedEndpoint[]): string {
  return listedNames(endpoints.map(({ address, service }) => `${address} (${service})`));
}
