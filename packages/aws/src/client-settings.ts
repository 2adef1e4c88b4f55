const CONNECT_MS = 2_000;

interface Place {
  region?: string | undefined;
  endpoint?: string | undefined;
}

/** What the clients of all services are made with; how patient each is and how many calls it makes at once differs. */
export const clientSettings = (
  { region, endpoint }: Place,
  { requestMs, sockets }: { requestMs: number; sockets: number },
) => ({
  ...(region !== undefined && { region }),
  ...(endpoint !== undefined && { endpoint }),
  requestHandler: {
    connectionTimeout: CONNECT_MS,
    requestTimeout: requestMs,
    httpAgent: { maxSockets: sockets },
    httpsAgent: { maxSockets: sockets },
  },
});
