/** The runner as `main.ts` starts it, with the parts of a test: `planted.ts FOLDER PARTS OPTIONS...`. */
import { ci } from '../ci.ts';
import type { Part } from '../part.ts';

/** A host that has taken so much when it is looked at again. */
const stolen = [0, Number(process.env['PLANTED_STOLEN_SECONDS'] ?? 0)];
let looks = 0;

const [root = '', parts = '[]', ...args] = process.argv.slice(2);

process.exitCode = await ci(args, {
  parts: JSON.parse(parts) as Part[],
  root,
  scripts: {},
  measureSlowness: async () => 1,
  stolenSeconds: () => stolen[Math.min(looks++, 1)] ?? 0,
  limits: { hangFactor: Number(process.env['PLANTED_HANG_FACTOR'] ?? 30), graceMs: 500 },
});
