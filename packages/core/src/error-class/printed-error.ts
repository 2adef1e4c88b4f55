/** An error as a program printed it, in the shape in which `classifyError` reads one. */
export interface PrintedError {
  name: string;
  message: string;
  stack: string;
  code?: string;
  severity?: string;
  type?: string;
  status?: number;
  errcode?: number;
  $metadata?: { httpStatusCode: number };
  headers?: Record<string, string>;
  cause?: PrintedError;
}

/** Where an error begins: "TypeError: x", "Error [ERR_X]: x", "[Error: x] {", "a.b.SomeError: x", "SomeError". */
const HEADER =
  /^(?:Uncaught |Unhandled rejection |Caused by: |Exception in thread "[^"]{0,100}" |\[)?(?:[\w$]{1,100}\.){0,10}([A-Za-z_$][\w$]{0,100})(?: \[([A-Z]\w{1,60})\])?(?::(?: (.*))?)?$/;

/** What the names of errors end in; without a message only those in capitals, since a word may stand alone. */
const NAME = /(?:Error|Exception|Timeout|Interrupt)$/;
const NAME_BEFORE_TEXT = /(?:Error|Exception|Timeout|Interrupt|error|timeout)$/;

/** A property as Node.js prints it below the stack, two spaces in. */
const PROPERTY =
  /^ {2}(name|code|severity|type|status|statusCode|errcode): (?:'([^']{1,100})'|"([^"]{1,100})"|(\d{1,9})),?$/;

const AWS_STATUS = /^ {2,4}(?:'\$metadata': \{ )?httpStatusCode: (\d{3})\b/;
const RETRY_AFTER = /^ +'?retry-after'?: '([^']{1,60})'/i;
const CAUSE = '  [cause]: ';
const MAX_CAUSES = 4;

/** Reads an error whose first line is this one, with the lines below it. Undefined: the line begins none. */
export function readPrinted(line: string, below: readonly string[], depth = 0): PrintedError | undefined {
  const header = HEADER.exec(line);
  if (header === null) return undefined;
  const [, name = '', label, message] = header;
  // Services give their errors names like NoSuchKey, which only the stack shows to be one.
  const isNamed = (message === undefined ? NAME : NAME_BEFORE_TEXT).test(name);
  if (!isNamed && !below[0]?.startsWith('    at ')) return undefined;
  const error: PrintedError = { name, message: withoutBracket(line, message ?? ''), stack: below.join('\n') };
  if (name === 'DOMException' && label !== undefined) error.name = label;
  else if (label !== undefined) error.code = label;
  for (const [at, one] of below.entries()) {
    readProperty(error, one);
    if (depth < MAX_CAUSES && one.startsWith(CAUSE)) {
      const cause = readPrinted(one.slice(CAUSE.length), indented(below, at + 1), depth + 1);
      if (cause !== undefined) error.cause = cause;
    }
  }
  return error;
}

function readProperty(error: PrintedError, line: string): void {
  const [, key, single, double, number] = PROPERTY.exec(line) ?? [];
  const text = single ?? double;
  if (text !== undefined && isTextKey(key)) error[key] = text;
  if (number !== undefined && key === 'errcode') error.errcode = Number(number);
  if (number !== undefined && (key === 'status' || key === 'statusCode')) error.status = Number(number);
  const status = AWS_STATUS.exec(line)?.[1];
  if (status !== undefined) error.$metadata = { httpStatusCode: Number(status) };
  const retryAfter = RETRY_AFTER.exec(line)?.[1];
  if (retryAfter !== undefined) error.headers = { 'retry-after': retryAfter };
}

const isTextKey = (key: string | undefined): key is 'name' | 'code' | 'severity' | 'type' =>
  key === 'name' || key === 'code' || key === 'severity' || key === 'type';

/** The lines of a cause, moved to where those of an error stand. */
function indented(lines: readonly string[], from: number): string[] {
  const end = lines.findIndex((line, at) => at >= from && !line.startsWith('    '));
  return lines.slice(from, end === -1 ? lines.length : end).map((line) => line.slice(2));
}

/** An error without a stack is printed in brackets. */
const withoutBracket = (line: string, message: string): string =>
  line.startsWith('[') ? message.replace(/\](?: \{)?$/, '') : message;
