import { isObject } from '@waybill/core';

/** A request as an HTTP API of API Gateway or a function URL gives it. */
export interface HttpEventV2 {
  version: string;
  rawPath: string;
  rawQueryString?: string | undefined;
  headers: Record<string, string | undefined>;
  cookies?: string[] | undefined;
  body?: string | null | undefined;
  isBase64Encoded?: boolean | undefined;
  requestContext: { domainName?: string | undefined; http: { method: string; sourceIp?: string | undefined } };
}

/** A request as a REST API of API Gateway gives it. */
export interface HttpEventV1 {
  httpMethod: string;
  path: string;
  headers?: Record<string, string | undefined> | null | undefined;
  multiValueHeaders?: Record<string, string[] | undefined> | null | undefined;
  multiValueQueryStringParameters?: Record<string, string[] | undefined> | null | undefined;
  body?: string | null | undefined;
  isBase64Encoded?: boolean | undefined;
  requestContext: { domainName?: string | undefined; identity?: { sourceIp?: string | undefined } | undefined };
}

export type HttpEvent = HttpEventV1 | HttpEventV2;

export interface HttpAnswer {
  statusCode: number;
  headers?: Record<string, string>;
  multiValueHeaders?: Record<string, string[]>;
  cookies?: string[];
  body: string;
  isBase64Encoded: boolean;
}

const isV2 = (event: HttpEvent): event is HttpEventV2 => isObject((event as HttpEventV2).requestContext?.http);

export const addressIn = (event: HttpEvent): string | undefined =>
  isV2(event) ? event.requestContext.http.sourceIp : event.requestContext.identity?.sourceIp;

export function requestOf(event: HttpEvent, signal: AbortSignal): Request {
  const headers = headersOf(event);
  const { domainName = 'localhost' } = event.requestContext;
  const url = new URL(`https://${headers.get('host') ?? domainName}`);
  const { method, path, query } = isV2(event)
    ? { method: event.requestContext.http.method, path: event.rawPath, query: event.rawQueryString ?? '' }
    : { method: event.httpMethod, path: event.path, query: queryOf(event) };
  url.pathname = path;
  url.search = query;
  const { body, isBase64Encoded = false } = event;
  const hasBody = body !== null && body !== undefined && body !== '' && method !== 'GET' && method !== 'HEAD';
  return new Request(url, {
    ...{ method, headers, signal },
    ...(hasBody && { body: isBase64Encoded ? Buffer.from(body, 'base64') : body }),
  });
}

function headersOf(event: HttpEvent): Headers {
  const headers = new Headers();
  if (isV2(event)) {
    for (const [name, value] of Object.entries(event.headers)) if (value !== undefined) headers.append(name, value);
    if (event.cookies?.length) headers.set('cookie', event.cookies.join('; '));
    return headers;
  }
  const single = Object.entries(event.headers ?? {}).map(([name, value]) => [name, value === undefined ? [] : [value]]);
  const all = event.multiValueHeaders ?? (Object.fromEntries(single) as Record<string, string[]>);
  for (const [name, values = []] of Object.entries(all)) for (const value of values) headers.append(name, value);
  return headers;
}

function queryOf({ multiValueQueryStringParameters: parameters }: HttpEventV1): string {
  const pairs = Object.entries(parameters ?? {}).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new URLSearchParams(pairs).toString();
}

export async function answerOf(response: Response, event: HttpEvent): Promise<HttpAnswer> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const isBase64Encoded = !isText(response.headers);
  const body = bytes.toString(isBase64Encoded ? 'base64' : 'utf8');
  const cookies = response.headers.getSetCookie();
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== 'set-cookie'));
  const answer = { statusCode: response.status, body, isBase64Encoded };
  if (isV2(event)) return { ...answer, headers, ...(cookies.length > 0 && { cookies }) };
  const multiple = Object.entries(headers).map(([name, value]): [string, string[]] => [name, [value]]);
  const setCookie: [string, string[]][] = cookies.length > 0 ? [['set-cookie', cookies]] : [];
  return { ...answer, multiValueHeaders: Object.fromEntries([...multiple, ...setCookie]) };
}

const isText = (headers: Headers): boolean =>
  !headers.has('content-encoding') &&
  /^(text\/|application\/([\w.+-]*\+)?(json|xml|javascript))|^$/.test(headers.get('content-type') ?? '');
