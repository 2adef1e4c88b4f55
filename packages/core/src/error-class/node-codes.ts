import { byKey, type ErrorClass } from './error-class.ts';

/**
 * Codes of Node.js, of its HTTP client (undici) and of common clients that follow its style. Codes of a machine that is
 * full (EMFILE, ENOSPC, ENOMEM) are not here: whether another attempt helps is for the retry policy.
 */
const CODES = byKey({
  network: [
    ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_FAIL', 'EPIPE'],
    ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENETRESET', 'ENOTCONN', 'EPROTO', 'ESERVFAIL'],
    ...['EREFUSED', 'ENODATA', 'ERR_NETWORK', 'ERR_SOCKET_CLOSED', 'ERR_STREAM_PREMATURE_CLOSE'],
    ...['UND_ERR_SOCKET', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED', 'UND_ERR_PRX_TLS', 'UND_ERR_INFO'],
    ...['ERR_HTTP2_GOAWAY_SESSION', 'ERR_HTTP2_SESSION_ERROR', 'ERR_HTTP2_STREAM_ERROR', 'ERR_HTTP2_STREAM_CANCEL'],
    ...['ERR_HTTP2_INVALID_SESSION', 'ERR_HTTP2_ERROR'],
  ],
  timeout: [
    ...['ETIMEDOUT', 'ESOCKETTIMEDOUT', 'ETIMEOUT', 'ETIME', 'TIMEOUT', 'ABORT_ERR', 'ERR_CANCELED', 'UND_ERR_ABORTED'],
    ...['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'],
    ...['ERR_SOCKET_CONNECTION_TIMEOUT', 'ERR_TLS_HANDSHAKE_TIMEOUT', 'ERR_SCRIPT_EXECUTION_TIMEOUT'],
  ],
  not_found: ['ENOENT', 'MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'],
  auth: ['EACCES', 'EPERM', 'ERR_ACCESS_DENIED'],
  validation: ['ERR_INVALID_URL', 'ENAMETOOLONG', 'E2BIG'],
  programming: ['UND_ERR_INVALID_ARG', 'UND_ERR_INVALID_RETURN_VALUE', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'],
});

/**
 * A connection that TLS did not let come about. It counts as network, because certificates are renewed and proxies
 * come and go; the retry policy bounds the attempts where neither happens.
 */
const TLS =
  /^(?:CERT_\w+|CRL_\w+|UNABLE_TO_(?:VERIFY|GET|DECRYPT|DECODE)_\w+|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_\w+|HOSTNAME_MISMATCH|INVALID_CA)$/;

/** What the parser of HTTP/1 says about an answer that is none. */
const HTTP_PARSER = /^HPE_[A-Z_]+$/;

export function classOfNodeCode(code: string): ErrorClass | undefined {
  return CODES.get(code) ?? (TLS.test(code) || HTTP_PARSER.test(code) ? 'network' : undefined);
}
