/** `14:07:31`, in UTC like `fairlead history`. */
export function timeOfDay(atMs: number): string {
  return isoOf(atMs).slice(11, 19);
}

/** `2026-11-17 14:07:31.204 UTC`. */
export function exactTime(atMs: number): string {
  const iso = isoOf(atMs);
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)} UTC`;
}

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
