import type { DescMethod } from '@bufbuild/protobuf';
import { Code, type ConnectError } from '@connectrpc/connect';
import { WaybillError } from '@waybill/core';

type Rule = readonly [text: RegExp, error: (found: RegExpExecArray, method: DescMethod) => WaybillError];

const invalid = (message: string) => new WaybillError('invalid_payload', message, { hint: CHECK });
const CHECK = 'Send the message in the format that the Content-Type names, by the definitions in packages/protocol.';

/** Messages of the library for protobuf about bytes that are no message. */
const BINARY: readonly (readonly [RegExp, string])[] = [
  [/premature EOF/, 'it ends in the middle of a field'],
  [/recursion/, 'it is nested too deeply'],
  [/utf-?8/i, 'it has a text that is not UTF-8'],
  [/varint/, 'it has a number that is longer than a number can be'],
  [/illegal tag|wire type|end group/, 'it has a field with a number or type that cannot be'],
];

const LONGEST_QUOTE = 300;

/** In the order in which they are tried. The first group of each text is the part that differs. */
const RULES: readonly Rule[] = [
  [
    /^parse binary: (.*)/s,
    ([, why], { input }) =>
      invalid(`The message is no ${input.typeName} in protobuf's binary format: ${binaryReason(why!)}.`),
  ],
  [
    /^cannot decode (?:message )?(\S+) from JSON:? ?(.*)/s,
    ([, name, why], { input }) =>
      invalid(`The message is no ${input.typeName} in JSON: ${jsonReason(name!, why!, input.typeName)}.`),
  ],
  [
    /^cannot decode (?:field|oneof) (\S+) from JSON:? ?(.*)/s,
    ([, name, why], { input }) => invalid(`The message is no ${input.typeName} in JSON: '${name}' ${short(why!)}.`),
  ],
  [/incomplete envelope/, () => invalid('The request ends in the middle of a message.')],
  [
    /promised (\d+) bytes, received (\d+)/,
    ([, promised, received]) => invalid(`The body has ${received} bytes, and its Content-Length says ${promised}.`),
  ],
  [/decompression failed/, () => invalid('The message is marked as compressed with gzip, and cannot be decompressed.')],
  [
    /compressed envelope/,
    () => invalid('The message is marked as compressed, and no header of the call names a compression.'),
  ],
  [
    /message(?: size (\d+))? (?:size )?is larger than configured readMaxBytes (\d+)/,
    ([, size, most]) =>
      new WaybillError(
        'payload_too_large',
        `A message may have ${most} bytes${size === undefined ? '' : `, and this one has ${size}`}. Compressed ones count unpacked.`,
        { details: { max_bytes: Number(most) } },
      ),
  ],
  [/missing input message/, ({ 0: _ }, { name }) => cardinality(`${name} takes one message, and none was sent.`)],
  [/extra input message/, ({ 0: _ }, { name }) => cardinality(`${name} takes one message, and more were sent.`)],
  [
    /^unknown compression "(.*)": supported encodings are (.*)/s,
    ([, name, known]) =>
      new WaybillError('unsupported', `This server does not know the compression '${short(name!)}'.`, {
        hint: `Send messages as they are, or compress them with ${known}.`,
      }),
  ],
  [
    /timeout/,
    () => new WaybillError('invalid_request', 'The deadline in the headers is not valid.', { hint: DEADLINE }),
  ],
  [/^serialize binary/, () => new WaybillError('internal', 'The answer could not be written.')],
];

const DEADLINE =
  'Send at most 24 hours: in milliseconds as connect-timeout-ms, or in the form of grpc-timeout, such as 30S.';

const cardinality = (message: string) =>
  new WaybillError('unsupported', message, { hint: 'Send exactly one message.' });

/** These are no faults of a message: the deadline has passed, or the client has left. */
const KEPT: ReadonlySet<Code> = new Set([Code.DeadlineExceeded, Code.Canceled]);

/** The error of the catalogue for what Connect has found wrong with a call; undefined where its own words will do. */
export function catalogued({ code, rawMessage }: ConnectError, method: DescMethod): WaybillError | undefined {
  if (KEPT.has(code)) return undefined;
  for (const [text, error] of RULES) {
    const found = text.exec(rawMessage);
    if (found) return error(found, method);
  }
  return undefined;
}

const binaryReason = (why: string): string => BINARY.find(([text]) => text.test(why))?.[1] ?? 'its bytes are damaged';

/** `Unexpected token` and the like stand for the whole message; anything else names what it is about. */
function jsonReason(name: string, why: string, whole: string): string {
  return name === whole ? short(why) : `'${name}' ${short(why)}`;
}

/** What was sent is quoted by the library, and may be long. */
function short(text: string): string {
  const plain = text.replace(/\.$/, '').replace(/\s+/g, ' ');
  return plain.length <= LONGEST_QUOTE ? plain : `${plain.slice(0, LONGEST_QUOTE)}…`;
}
