import { invalid } from '../http/remote-error.ts';

export interface RpcAddress {
  /** As messages show it. */
  server: string;
  /** What an HTTP/2 connection is opened to. */
  origin: string;
}

/** Reads grpc://HOST:PORT or grpcs://HOST. No error quotes the text, because it may hold a password anywhere. */
export function rpcAddress(url: string): RpcAddress {
  const { protocol, host, port, username, password, pathname, search, hash } = URL.canParse(url)
    ? new URL(url)
    : NO_URL;
  const isSecure = protocol === 'grpcs:';
  if ((protocol !== 'grpc:' && !isSecure) || host === '')
    throw invalid('The address of a server must be one like grpc://localhost:9090 or grpcs://jobs.example.com.');
  if (username !== '' || password !== '' || pathname.includes('@'))
    throw invalid('The address of a server must not hold credentials. Send them in headers, or as a key.');
  if ((pathname !== '' && pathname !== '/') || search !== '' || hash !== '')
    throw invalid(
      'The address of a gRPC server must not have a path or parameters: use one like grpc://localhost:9090.',
    );
  // Those of HTTPS have the usual port; for gRPC without TLS there is none.
  if (!isSecure && port === '') throw invalid('The address of a gRPC server must name its port: grpc://HOST:PORT.');
  return { server: `${protocol}//${host}`, origin: `${isSecure ? 'https' : 'http'}://${host}` };
}

const NO_URL = {
  ...{ protocol: '', host: '', port: '', username: '', password: '', pathname: '', search: '', hash: '' },
};
