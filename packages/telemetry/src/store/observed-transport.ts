import type { BlobStore, Transport } from '@waybill/core';
import { type CallParts, ObservedCalls } from './observed-calls.ts';
import { ofJobs } from './told-of.ts';

/** The transport, with every call measured. A hint names the trace of its job; a message carries nothing more for it. */
export function observedTransport(transport: Transport, parts: CallParts): Transport {
  const calls = new ObservedCalls(parts, 'transport', transport.capabilities.name);
  const { checkQueue, takeWaiting, depth, tellDead, putAside, ping, aside } = transport;
  return {
    capabilities: transport.capabilities,
    ...(checkQueue && { checkQueue: (tenant, queue) => checkQueue.call(transport, tenant, queue) }),
    send: (hints) =>
      calls.run('send', () => transport.send(hints), { asked: () => ({ count: hints.length, traces: hints }) }),
    receive: (request) =>
      calls.run('receive', () => transport.receive(request), {
        asked: () => ({ traces: [] }),
        found: (received) => {
          if (received.kind === 'claimed') return received.jobs.length === 0 ? null : ofJobs(received.jobs);
          const { length } = received.deliveries;
          return length === 0 ? null : { count: length, traces: [] };
        },
      }),
    ...(takeWaiting && { takeWaiting: (tenant, queue) => takeWaiting.call(transport, tenant, queue) }),
    ack: (delivery) => calls.run('ack', () => transport.ack(delivery)),
    extend: (delivery, ms) => calls.run('extend', () => transport.extend(delivery, ms)),
    release: (delivery, delayMs) => calls.run('release', () => transport.release(delivery, delayMs)),
    ...(depth && { depth: (tenant, queue) => calls.run('depth', () => depth.call(transport, tenant, queue)) }),
    ...(tellDead && {
      tellDead: (jobs) => calls.run('tellDead', () => tellDead.call(transport, jobs), { asked: () => ofJobs(jobs) }),
    }),
    ...(putAside && {
      putAside: (delivery, reason) => calls.run('putAside', () => putAside.call(transport, delivery, reason)),
    }),
    ...(aside && { aside }),
    ...(ping && { ping: () => ping.call(transport) }),
    close: () => transport.close(),
  };
}

/** The blob store, with every call measured. Keys stay out of the spans: they name jobs, and their hashes what is in them. */
export function observedBlobs(blobs: BlobStore, parts: CallParts): BlobStore {
  const calls = new ObservedCalls(parts, 'blobs', 'blobs');
  const { presign } = blobs;
  return {
    put: (key, data) =>
      calls.run('put', () => blobs.put(key, data), { asked: () => ({ count: 1, bytes: data.byteLength }) }),
    get: (key) =>
      calls.run('get', () => blobs.get(key), {
        found: (data) => (data === null ? { count: 0 } : { count: 1, bytes: data.byteLength }),
      }),
    deletePrefix: (prefix) => calls.run('deletePrefix', () => blobs.deletePrefix(prefix)),
    list: (prefix, page) =>
      calls.run('list', () => blobs.list(prefix, page), { found: ({ length }) => ({ count: length }) }),
    // Made here and not asked for: it costs no call, and the address is a secret.
    ...(presign && { presign: (key, forMs) => presign.call(blobs, key, forMs) }),
    close: () => blobs.close(),
  };
}
