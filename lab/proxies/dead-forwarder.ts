/**
 * Loaded by every Node process of a proxy with a dead forwarder: the forwarder ends before its first
 * line, everything else is as it is shipped.
 */
if (/\bforwarder\.(ts|mjs)$/.test(process.argv[1] ?? '')) process.exit(1);
