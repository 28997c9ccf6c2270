/** Screens in the order of their keys 1 to 6. */
export const SCREENS = ['map', 'services', 'service', 'changes', 'path', 'doctor'] as const;
export type ScreenName = (typeof SCREENS)[number];

export const SCREEN_TITLES: Readonly<Record<ScreenName, string>> = {
  map: 'Map',
  services: 'Services',
  service: 'Service',
  changes: 'Changes',
  path: 'Path',
  doctor: 'Doctor',
};

export interface Route {
  readonly screen: ScreenName;
  readonly params: Readonly<Record<string, string>>;
}

/** `#/service?name=shop%2Fweb`; what is not known leads to the map. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const screen = SCREENS.find((name) => name === path) ?? 'map';
  return { screen, params: Object.fromEntries(new URLSearchParams(query)) };
}

export function routeTo(
  screen: ScreenName,
  params: Readonly<Record<string, string | undefined>> = {},
): `#/${string}` {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given as [string, string][]).toString();
  return query === '' ? `#/${screen}` : `#/${screen}?${query}`;
}

/** `shop/web` of `shop/web:http`. */
export function serviceOfPort(port: string): string {
  const colon = port.indexOf(':');
  return colon === -1 ? port : port.slice(0, colon);
}
