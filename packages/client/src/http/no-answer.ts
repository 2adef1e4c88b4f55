import { RemoteError } from './remote-error.ts';

/** No answer came, or only a part of one. */
export function noAnswer(server: string, cause: unknown): RemoteError {
  const unavailable = (message: string, hint?: string) =>
    new RemoteError({ code: 'unavailable', message, ...(hint && { hint }) }, cause);
  const certificate = certificateProblem(cause);
  if (certificate !== undefined)
    return unavailable(
      `The certificate of ${server} is not trusted (${certificate}).`,
      'Use the name that the certificate is for, or name its authority in a file by NODE_EXTRA_CA_CERTS.',
    );
  if (isGrpcPort(cause))
    return unavailable(
      `What answered at ${server} does not speak HTTP/1.1.`,
      `This looks like the gRPC port. Use ${grpcAddress(server)}, or the port for HTTP.`,
    );
  return unavailable(`The server ${server} could not be reached, or its answer broke off.`, networkHint(cause));
}

const CHECK_RUNNING = 'Nothing listens at this address and port. Check both, and that the server is running';
const CHECK_NAME = 'No name server knows the host. Check the name in the address';
const CHECK_ROUTE = 'The network has no way to this host. Check the address, the VPN and the firewall';
const CHECK_SILENCE = 'The host does not answer. Check the address and the firewall';
const CHECK_BROKEN =
  'The connection was closed from the other side. Check that the server is running, and what stands before it';

const NETWORK_HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: CHECK_RUNNING,
  ...{ ENOTFOUND: CHECK_NAME, EAI_AGAIN: CHECK_NAME },
  ...{ EHOSTUNREACH: CHECK_ROUTE, ENETUNREACH: CHECK_ROUTE, EHOSTDOWN: CHECK_ROUTE, ENETDOWN: CHECK_ROUTE },
  ...{ ETIMEDOUT: CHECK_SILENCE, UND_ERR_CONNECT_TIMEOUT: CHECK_SILENCE },
  ...{ ECONNRESET: CHECK_BROKEN, EPIPE: CHECK_BROKEN, UND_ERR_SOCKET: CHECK_BROKEN },
};

/** What the operating system says, for people: fetch hides it in the cause. Browsers do not tell. */
function networkHint(error: unknown): string | undefined {
  for (const { code } of causesOf(error)) {
    const hint = typeof code === 'string' && Object.hasOwn(NETWORK_HINTS, code) ? NETWORK_HINTS[code] : undefined;
    if (hint !== undefined) return `${hint} (${code}).`;
  }
  return undefined;
}

/** An error and what it was caused by: fetch and Connect hide there what Node says. */
export function* causesOf(error: unknown): Generator<Error & { code?: unknown; data?: unknown }> {
  for (let [at, depth] = [error, 0]; at instanceof Error && depth < 5; [at, depth] = [at.cause, depth + 1]) yield at;
}

const OF_CERTIFICATES = /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_(?:GET|VERIFY)/;

function certificateProblem(error: unknown): string | undefined {
  for (const { code } of causesOf(error)) if (typeof code === 'string' && OF_CERTIFICATES.test(code)) return code;
  return undefined;
}

/** With TLS, both sides say what they speak before anything else: HTTP/1.1 or HTTP/2. */
export const NO_COMMON_PROTOCOL = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are bytes.
const SETTINGS_FRAME = /^\u0000..\u0004.\u0000{4}/s;

/** A server of HTTP/2 begins with its settings, and Node shows what it could not read as HTTP/1.1. */
function isGrpcPort(error: unknown): boolean {
  for (const { code, data } of causesOf(error))
    if (code === NO_COMMON_PROTOCOL || (typeof data === 'string' && SETTINGS_FRAME.test(data))) return true;
  return false;
}

function grpcAddress(server: string): string {
  const { protocol, hostname, host, port } = new URL(server);
  // Only with TLS is there a usual port.
  return protocol === 'https:' ? `grpcs://${host}` : `grpc://${hostname}:${port || '80'}`;
}
