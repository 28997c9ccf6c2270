/** `hold.ts PORT`: watches drops at this port of TCP until it is killed. */
import { watchDrops } from '../watch-drops.ts';
import { dropObject } from './drop-object.ts';

const [port = ''] = process.argv.slice(2);
const ends = [{ port: Number(port), protocol: 6 }];
watchDrops({ object: dropObject(), ends }, new AbortController().signal);
process.stdout.write(String(process.pid));
setInterval(() => undefined, 60_000);
