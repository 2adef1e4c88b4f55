import type { Logger } from '@waybill/core';

/** A service that has not answered by then is reported, long before its first request is given up. */
const SILENT_MS = 1_000;

export interface ServicePlace {
  service: string;
  region?: string | undefined;
  endpoint?: string | undefined;
}

/** The service and where it is. Nothing else of an address is shown, because that may hold secrets. */
function placeName({ service, region, endpoint }: ServicePlace): string {
  const where = endpoint === undefined ? region : URL.canParse(endpoint) ? new URL(endpoint).origin : undefined;
  return where === undefined ? service : `${service} at ${where}`;
}

/** Waits for the answer to the first request to a service, and warns while there is none. */
export async function firstAnswer<T>(
  request: Promise<T>,
  place: ServicePlace,
  { logger, signal }: { logger: Logger; signal?: AbortSignal },
): Promise<T> {
  const hint = 'Check the network, the region and the endpoint.';
  const silent = setTimeout(() => {
    if (!signal?.aborted) logger.warn({ hint }, `${placeName(place)} has not answered yet.`);
  }, SILENT_MS).unref();
  try {
    return await request;
  } finally {
    clearTimeout(silent);
  }
}
