import { createHash, timingSafeEqual } from 'node:crypto';
import { ViewProblem } from './view-problem.ts';

/** The parts of a request that decide whether it is answered. */
export interface Incoming {
  readonly method: string;
  /** As in the request line. */
  readonly target: string;
  readonly host: string | undefined;
  readonly cookie: string | undefined;
  readonly authorization: string | undefined;
  /** `Sec-Fetch-Site`: where the page is from that asks, as the browser says. */
  readonly fetchSite: string | undefined;
}

export interface Guard {
  readonly token: string;
  readonly port: number;
}

export type Admitted =
  | { readonly is: 'admitted'; readonly path: string; readonly query: URLSearchParams }
  /** The token came in the address: the browser gets it as a cookie, and another address. */
  | { readonly is: 'signed in'; readonly cookie: string };

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
const NOT_FOUND = 404;
const METHOD_NOT_ALLOWED = 405;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
/** A request of the page itself, or of an address that was typed. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/** Throws ViewProblem. */
export function admit(incoming: Incoming, guard: Guard): Admitted {
  assertHost(incoming.host, guard.port);
  assertMethod(incoming.method);
  const { path, query } = splitTarget(incoming.target);
  const given = query.get('token');
  if (path === '/' && given !== null) {
    if (!isToken(given, guard.token)) throw notSignedIn();
    return { is: 'signed in', cookie: cookieFor(guard) };
  }
  const cookies = cookieValues(incoming.cookie, cookieName(guard.port));
  const bearer = /^Bearer (\S+)$/.exec(incoming.authorization ?? '')?.[1];
  const offered = bearer === undefined ? cookies : [bearer, ...cookies];
  if (!offered.some((each) => isToken(each, guard.token))) throw notSignedIn();
  assertOwnPage(incoming.fetchSite);
  return { is: 'admitted', path, query };
}

/** A name of another site that resolves to this machine is no name of ours (DNS rebinding). */
function assertHost(host: string | undefined, port: number): void {
  const names = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
  if (host !== undefined && names.includes(host.toLowerCase())) return;
  throw new ViewProblem(FORBIDDEN, {
    code: 'OTHER_HOST',
    message: 'the Host header names another server',
    next: `use http://127.0.0.1:${port}; through a tunnel use the same port on both sides`,
  });
}

function assertMethod(method: string): void {
  if (METHODS.has(method)) return;
  throw new ViewProblem(METHOD_NOT_ALLOWED, {
    code: 'READ_ONLY',
    message: 'only GET and HEAD are answered',
  });
}

/**
 * Cookies know no ports: a page of another server on this machine is of the same site, and its
 * requests have the cookie.
 */
function assertOwnPage(fetchSite: string | undefined): void {
  if (fetchSite === undefined || OWN_SITES.has(fetchSite)) return;
  throw new ViewProblem(FORBIDDEN, {
    code: 'OTHER_PAGE',
    message: 'the request comes from a page of another server',
    next: 'type the address of `fairlead view` into the browser instead of following a link',
  });
}

/** Nothing in a path is decoded: names of files and data are plain. */
function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const [, path, query = ''] = /^(\/[^?#]*)(?:\?([^#]*))?$/.exec(target) ?? [];
  if (path === undefined) throw notFound();
  return { path, query: new URLSearchParams(query) };
}

export function notFound(): ViewProblem {
  return new ViewProblem(NOT_FOUND, {
    code: 'NOT_FOUND',
    message: 'there is nothing at this path',
  });
}

function notSignedIn(): ViewProblem {
  return new ViewProblem(UNAUTHORIZED, {
    code: 'NO_TOKEN',
    message: 'the token is missing or wrong',
    next: 'open the address that `fairlead view` printed, with its token',
  });
}

/** The name has the port, so that two views on one machine do not sign each other out. */
function cookieName(port: number): string {
  return `fairlead-view-${port}`;
}

function cookieFor({ token, port }: Guard): string {
  return `${cookieName(port)}=${token}; Path=/; HttpOnly; SameSite=Strict`;
}

function cookieValues(header: string | undefined, name: string): string[] {
  return (header ?? '')
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(`${name}=`))
    .map((each) => each.slice(name.length + 1));
}

/** In constant time: digests have one length, and comparing them tells nothing of the token. */
function isToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
