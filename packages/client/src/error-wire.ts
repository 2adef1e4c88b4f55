import type { ErrorCode, WaybillError } from '@waybill/core';

/** The codes of gRPC that this interface answers with of its own. */
export type RpcCode =
  | 'InvalidArgument'
  | 'DeadlineExceeded'
  | 'NotFound'
  | 'AlreadyExists'
  | 'PermissionDenied'
  | 'ResourceExhausted'
  | 'FailedPrecondition'
  | 'Aborted'
  | 'Unimplemented'
  | 'Internal'
  | 'Unavailable'
  | 'DataLoss'
  | 'Unauthenticated';

/** What an error code is on each surface, and what to do about it where the error itself does not say. */
export interface ErrorMeaning {
  /** HTTP status. */
  status: number;
  /** Exit code of the command: small, and different for each code, so that scripts can tell. */
  exitCode: number;
  /** Code of the RPC interface, by the name that gRPC's specification has for it. */
  rpc: RpcCode;
  hint: string;
}

/** The one table. Exit code 0 is success; 1 is also what Node gives an uncaught error, hence `internal`. */
export const ERROR_TABLE = {
  internal: { status: 500, exitCode: 1, rpc: 'Internal', hint: 'Report the request id to whoever runs this server.' },
  invalid_request: {
    status: 400,
    exitCode: 2,
    rpc: 'InvalidArgument',
    hint: 'Correct the request; the message names what is wrong with it.',
  },
  invalid_payload: { status: 400, exitCode: 3, rpc: 'InvalidArgument', hint: 'Send a JSON object as the body.' },
  validation_error: {
    status: 422,
    exitCode: 4,
    rpc: 'InvalidArgument',
    hint: 'Correct the field that the message names.',
  },
  payload_too_large: {
    status: 413,
    exitCode: 5,
    rpc: 'ResourceExhausted',
    hint: 'Keep large data elsewhere and send a reference to it.',
  },
  unsupported: { status: 422, exitCode: 6, rpc: 'Unimplemented', hint: 'Ask /ojs/manifest what this server can do.' },
  not_found: {
    status: 404,
    exitCode: 7,
    rpc: 'NotFound',
    hint: 'Check the id; finished jobs are removed after their retention time.',
  },
  conflict: {
    status: 409,
    exitCode: 8,
    rpc: 'FailedPrecondition',
    hint: 'Read the job again: its state does not allow this.',
  },
  duplicate: { status: 409, exitCode: 9, rpc: 'AlreadyExists', hint: 'Use the existing job, or send another id.' },
  lease_lost: {
    status: 409,
    exitCode: 10,
    rpc: 'Aborted',
    hint: 'Drop this run: the job was taken away or settled meanwhile.',
  },
  queue_paused: {
    status: 422,
    exitCode: 11,
    rpc: 'FailedPrecondition',
    hint: 'Resume the queue, or send the job to another one.',
  },
  rate_limited: { status: 429, exitCode: 12, rpc: 'ResourceExhausted', hint: 'Try again later, and slower.' },
  resource_exhausted: { status: 429, exitCode: 13, rpc: 'ResourceExhausted', hint: 'Try again later.' },
  unavailable: { status: 503, exitCode: 14, rpc: 'Unavailable', hint: 'Try again later.' },
  timeout: {
    status: 504,
    exitCode: 15,
    rpc: 'DeadlineExceeded',
    hint: 'Try again; look at the job first when the call may have had effect.',
  },
  unauthenticated: { status: 401, exitCode: 16, rpc: 'Unauthenticated', hint: 'Send a valid API key.' },
  forbidden: {
    status: 403,
    exitCode: 17,
    rpc: 'PermissionDenied',
    hint: 'Use a key whose scopes, tenant, queues and types allow this.',
  },
  payload_missing: {
    status: 410,
    exitCode: 18,
    rpc: 'DataLoss',
    hint: 'A payload was removed from the blob store; cancel the job.',
  },
} as const satisfies Record<ErrorCode, ErrorMeaning>;

/** What a server tells about one of its error codes; the code follows. */
export const ERRORS_PATH = '/ojs/errors/';

/** Stands for whatever went wrong inside: neither the cause nor the message of such an error leaves the server. */
const INTERNAL_MESSAGE = 'The server met an unexpected error.';

export interface WireError {
  error: {
    code: ErrorCode;
    message: string;
    retryable: boolean;
    type?: 'validation_error';
    details?: Record<string, unknown>;
    hint: string;
    /** Not where the caller is unknown: the page would be refused as well. */
    docs_url?: string;
    request_id: string;
  };
}

type Told = Pick<WaybillError, 'code' | 'message' | 'retryable' | 'details' | 'hint'>;

/** `origin`: of the server as the caller named it. Without it `docs_url` is relative to the address that was asked. */
export function errorToWire(
  { code, message, retryable, details, hint }: Told,
  requestId: string,
  origin = '',
): WireError {
  const inside = code === 'internal';
  return {
    error: {
      code,
      message: inside ? INTERNAL_MESSAGE : message,
      retryable,
      ...(code === 'validation_error' && { type: code }),
      ...(!inside && details !== undefined && { details }),
      hint: inside ? ERROR_TABLE.internal.hint : (hint ?? ERROR_TABLE[code].hint),
      ...(code !== 'unauthenticated' && { docs_url: `${origin}${ERRORS_PATH}${code}` }),
      request_id: requestId,
    },
  };
}

/** What a client learns from a refusal; enough to make a WaybillError of it. */
export interface ErrorFacts {
  code: ErrorCode;
  message: string;
  details?: Record<string, unknown>;
  hint?: string;
  requestId?: string;
}

/** Reads a refusal, also one that came from a proxy in between and has no body of ours. */
export function errorFromWire(body: unknown, status: number): ErrorFacts {
  const error = fieldsOf(fieldsOf(body)['error']);
  const { code, message, details, hint, request_id: requestId } = error;
  return {
    code: isErrorCode(code) ? code : codeOfStatus(status),
    message: typeof message === 'string' && message !== '' ? message : `The server answered with status ${status}.`,
    ...(isRecord(details) && { details }),
    ...(typeof hint === 'string' && { hint }),
    ...(typeof requestId === 'string' && { requestId }),
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldsOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERROR_TABLE, code);

/** Several codes share a status; the first one listed here is the most general of them. */
const GENERAL: readonly ErrorCode[] = [
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'conflict',
  'payload_too_large',
  'validation_error',
  'rate_limited',
  'unavailable',
  'timeout',
];

function codeOfStatus(status: number): ErrorCode {
  const known = GENERAL.find((code) => ERROR_TABLE[code].status === status);
  if (known !== undefined) return known;
  if (status === 502) return 'unavailable';
  return status >= 400 && status < 500 ? 'invalid_request' : 'internal';
}
