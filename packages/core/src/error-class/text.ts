import { STATUS_CODES } from 'node:http';
import type { ErrorClass } from './error-class.ts';
import { classOfNodeCode } from './node-codes.ts';
import { classOfPhrases } from './phrases.ts';
import { classOfApiType, classOfServiceName } from './service-codes.ts';
import { classOfStatus } from './status.ts';

/** A code as Node.js and the C library write it: "connect ECONNREFUSED 127.0.0.1:80". */
const CODE = /\b(?:E[A-Z]{3,15}|EAI_[A-Z]{4,8}|UND_ERR_[A-Z_]{3,30}|ERR_[A-Z0-9_]{3,40})\b/g;

/** The body of an answer of an API inside of a message. */
const API_TYPE = /"type": ?"([a-z_]{3,30})"/g;

/** A name of AWS as its command line and its SDK for Python write it. */
const SERVICE_NAME = /\bAn error occurred \(([\w.]{3,60})\)/;

/** A number is a status only where it is called one, and where a sentence ends or begins behind it. */
const STATUS =
  /\b(?:HTTP(?:\/[\d.]{1,3})?(?: Error)?|status(?: code)?|Error code|API Error|returned error)(?: of|:)? (\d{3})(?=$|[:;)\]]|[.,](?:\s|$)| - | [{"]| [A-Z])/;

/** A number also is a status beside its own reason: "404 Not Found". */
const REASON = /(?:^|: )(\d{3}) (?:(?:Client|Server) Error: )?([A-Z][A-Za-z' -]{1,40})/;

/** What a text says, where nothing else did. */
export function classOfText(text: string): ErrorClass | undefined {
  const name = SERVICE_NAME.exec(text)?.[1];
  return (
    firstMatch(text, CODE, ([code]) => classOfNodeCode(code)) ??
    firstMatch(text, API_TYPE, ([, type]) => classOfApiType(type!)) ??
    (name === undefined ? undefined : classOfServiceName(name)) ??
    classOfStatus(statusIn(text)) ??
    classOfPhrases(text)
  );
}

function firstMatch(
  text: string,
  pattern: RegExp,
  classOf: (match: RegExpExecArray) => ErrorClass | undefined,
): ErrorClass | undefined {
  for (const match of text.matchAll(pattern)) {
    const found = classOf(match);
    if (found !== undefined) return found;
  }
  return undefined;
}

function statusIn(text: string): number {
  const [, status, said] = REASON.exec(text) ?? [];
  const reason = STATUS_CODES[status ?? ''];
  if (reason !== undefined && said?.startsWith(reason)) return Number(status);
  return Number(STATUS.exec(text)?.[1]);
}
