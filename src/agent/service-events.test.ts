import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForwardingTable } from '../forwarding/table.ts';
import { service, view } from '../forwarding/testing/example-objects.ts';
import { addressEvents } from './service-events.ts';

const SHARED = { externalIPs: ['198.51.100.7'] };

/** The Event on `ns/young` when a Service of the namespace owns its address. */
function noteAbout(namespace: string): string | undefined {
  const table = new ForwardingTable(view());
  const old = { namespace, name: 'old', clusterIPs: ['10.96.0.2'], createdAtSeconds: 1 };
  table.putService(service({ ...old, ...SHARED }));
  table.putService(service({ name: 'young', clusterIPs: ['10.96.0.3'], ...SHARED }));
  table.takeChanges();
  const notes: string[] = [];
  const observer = addressEvents(
    { addressNotServed: (_, { note }) => notes.push(note), nodePortHeld: assert.fail },
    'here',
  );
  for (const each of table.notServed.first(10)) observer.onNotServed?.(each);
  return notes[0];
}

test('an Event names the Service that has the address only within its own namespace', () => {
  const told = 'external-ip 198.51.100.7:80/TCP is not served:';
  assert.equal(noteAbout('ns'), `${told} ns/old already has this address and port`);
  const other = `${told} a Service of another namespace already has this address and port`;
  assert.equal(noteAbout('secret'), other);
});
