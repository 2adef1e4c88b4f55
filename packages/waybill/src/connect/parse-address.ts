import {
  badAddress,
  checkParameters,
  parseUrl,
  SCHEMES,
  type Scheme,
  type ServerScheme,
  STORE_SCHEMES,
  schemeOf,
} from './address.ts';
import { type DynamoSettings, dynamoOptions } from './dynamo-address.ts';
import { type PostgresSettings, postgresOptions } from './postgres-address.ts';

export type SqliteAddress = { kind: 'sqlite'; path: string; durability: 'full' | 'normal' };
export type PostgresAddress = { kind: 'postgres'; options: PostgresSettings };
export type DynamoAddress = { kind: 'dynamodb'; options: DynamoSettings };
/** A server, and what is spoken to it. */
export type RemoteAddress = { kind: 'remote'; url: string; protocol: 'http' | 'grpc' };

export type StoreAddress = SqliteAddress | PostgresAddress | DynamoAddress;
export type Address = StoreAddress | RemoteAddress;

/** Reads the address of a store or of a server, and checks every part of it. Opens nothing. */
export function parseAddress(address: string): Address {
  return parse(address, schemeOf(address, SCHEMES));
}

/** Where an engine is to run: the address of a server is refused. */
export function parseStoreAddress(address: string): StoreAddress {
  return parse(address, schemeOf(address, STORE_SCHEMES)) as StoreAddress;
}

function parse(address: string, scheme: Scheme): Address {
  switch (scheme) {
    case 'sqlite':
      return sqliteAddress(address);
    case 'postgres':
    case 'postgresql':
      return { kind: 'postgres', options: postgresOptions(address) };
    case 'dynamodb':
      return { kind: 'dynamodb', options: dynamoOptions(address) };
    case 'http':
    case 'https':
      return remoteAddress(address, scheme);
    case 'grpc':
    case 'grpcs':
      return grpcAddress(address, scheme);
  }
}

/** Whether an address leads to a server, even where the rest of it cannot be used. */
export const isRemote = (address: string): boolean => /^(https?|grpcs?):/i.test(address);

/** The file of a store; null where it has none. */
export const fileOf = (address: Address): string | null =>
  address.kind === 'sqlite' && address.path !== ':memory:' ? address.path : null;

/** Reads `sqlite:FILE?durability=full|normal`. */
function sqliteAddress(address: string): SqliteAddress {
  const [path = '', query = ''] = address.slice('sqlite:'.length).split('?', 2);
  if (path === '' || path === '//') throw badAddress(address, 'it names no file.', ['sqlite']);
  const params = new URLSearchParams(query);
  checkParameters(address, params, ['durability'], 'sqlite');
  const durability = params.get('durability') ?? 'full';
  if (durability !== 'full' && durability !== 'normal') {
    throw badAddress(address, "'durability' must be full or normal.", ['sqlite']);
  }
  return { kind: 'sqlite', path: path.replace(/^\/\/(?=[^/])/, ''), durability };
}

/** A server has settings of its own, so parameters would have no effect. */
function remoteAddress(address: string, scheme: 'http' | 'https'): RemoteAddress {
  checkServer(address, scheme);
  return { kind: 'remote', url: address, protocol: 'http' };
}

/** `grpc://HOST:PORT`, or `grpcs://HOST` at the port of HTTPS. The paths of gRPC are those of its methods. */
function grpcAddress(address: string, scheme: 'grpc' | 'grpcs'): RemoteAddress {
  const { hostname, port, pathname, hash } = checkServer(address, scheme);
  if (hostname === '')
    throw badAddress(address, `it names no host: '${scheme}:' must be followed by two slashes.`, [scheme]);
  if (scheme === 'grpc' && port === '')
    throw badAddress(address, 'it names no port, and gRPC has no usual one.', [scheme]);
  if ((pathname !== '' && pathname !== '/') || hash !== '')
    throw badAddress(address, 'it has a path, and the address of a gRPC server has none.', [scheme]);
  return { kind: 'remote', url: address, protocol: 'grpc' };
}

function checkServer(address: string, scheme: ServerScheme): URL {
  const url = parseUrl(address, scheme);
  const { username, password, pathname, searchParams } = url;
  if (username !== '' || password !== '' || pathname.includes('@')) {
    throw badAddress(address, "it must not hold credentials. Send them in the option 'headers', an API key in 'key'.", [
      scheme,
    ]);
  }
  checkParameters(address, searchParams, [], scheme);
  return url;
}
