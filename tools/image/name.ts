/**
 * The full name of an image, as runtimes complete a short one: `fairlead` is
 * `docker.io/library/fairlead:latest`.
 */
export function fullImageName(given: string): string {
  const [first = '', ...rest] = given.split('/');
  const hasHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const path = hasHost ? given : `docker.io/${rest.length > 0 ? '' : 'library/'}${given}`;
  const last = path.slice(path.lastIndexOf('/') + 1);
  return last.includes(':') ? path : `${path}:latest`;
}
