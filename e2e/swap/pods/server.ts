/** Runs in a pod: sends back whatever it is sent, for as long as the client wants. */
import net from 'node:net';

const PORT = 8080;

net.createServer((socket) => socket.on('error', () => socket.destroy()).pipe(socket)).listen(PORT);
