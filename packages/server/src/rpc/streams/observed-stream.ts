import type { DescMethod } from '@bufbuild/protobuf';
import { WaybillError } from '@waybill/core';
import { JobEventsService, JobService, LogService } from '@waybill/protocol';
import type { StreamKind } from '../../stream/observer.ts';
import { OpenStream } from '../../stream/open-stream.ts';
import type { Surface } from '../../surface.ts';
import type { RpcCall } from '../call.ts';

/** The streams that metrics count, by what they carry. */
const KINDS: ReadonlyMap<DescMethod, StreamKind> = new Map<DescMethod, StreamKind>([
  [JobService.method.dequeueJobs, 'jobs'],
  [JobEventsService.method.publishEvents, 'publish'],
  [JobEventsService.method.streamEvents, 'journal'],
  [LogService.method.follow, 'events'],
]);

interface StreamParts {
  method: DescMethod;
  surface: Surface;
}

/** Counts the stream while it is open, and cuts off a slow reader as over HTTP. */
export async function* observedStream<T>(
  messages: AsyncIterable<T>,
  { c }: RpcCall,
  { method, surface }: StreamParts,
): AsyncGenerator<T> {
  const kind = KINDS.get(method);
  if (kind === undefined) {
    yield* messages;
    return;
  }
  let isTaken = true;
  let isCut = false;
  const stream = new OpenStream({
    ...{ kind, surface, requestId: c.get('requestId'), hasRoom: () => isTaken },
    cut: () => {
      isCut = true;
      c.env?.cut?.();
    },
  });
  try {
    for await (const message of messages) {
      stream.sending();
      isTaken = false;
      yield message;
      isTaken = true;
      if (isCut) throw tooSlow(surface.slowReaderMs);
    }
  } finally {
    stream.close();
  }
}

const tooSlow = (patienceMs: number): WaybillError =>
  new WaybillError('unavailable', `The reader took nothing for ${patienceMs / 1_000} seconds and was cut off.`, {
    hint: 'Open the stream again behind the last cursor.',
  });
