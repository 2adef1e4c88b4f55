import { isObject } from '@waybill/core';
import { parse } from './message.ts';
import type { Message, MessageAttributeValue } from './sdk.ts';

/** Why a message was put aside; goes when it is sent back. */
const REASON = 'WaybillReason';
/** SQS takes no more of them with one message. */
const MOST_ATTRIBUTES = 10;
const LONGEST_REASON = 1_000;
/** The type of a reason that has taken in another attribute, for which there was no room beside it. */
const WITH_ANOTHER = 'String.with-another';

type Attributes = Record<string, MessageAttributeValue>;

/** With a note why it is put aside. */
export function withReason({ MessageAttributes = {} }: Message, told: string): { MessageAttributes: Attributes } {
  // SQS refuses a message for a letter that it does not know.
  const reason = told.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, LONGEST_REASON);
  const others = Object.entries(MessageAttributes);
  if (others.length < MOST_ATTRIBUTES) {
    return { MessageAttributes: { ...MessageAttributes, [REASON]: { DataType: 'String', StringValue: reason } } };
  }
  const [name, { DataType, StringValue, BinaryValue }] = others.pop()!;
  const binary = BinaryValue && Buffer.from(BinaryValue).toString('base64');
  const StringOfBoth = JSON.stringify({ reason, name, type: DataType, text: StringValue, binary });
  return {
    MessageAttributes: {
      ...Object.fromEntries(others),
      [REASON]: { DataType: WITH_ANOTHER, StringValue: StringOfBoth },
    },
  };
}

export function reasonOf({ MessageAttributes = {} }: Message): string | null {
  const noted = MessageAttributes[REASON];
  return takenIn(noted)?.reason ?? noted?.StringValue ?? null;
}

/** As they were before the message was put aside. */
export function withoutReason({ MessageAttributes = {} }: Message): Attributes {
  const { [REASON]: noted, ...attributes } = MessageAttributes;
  const other = takenIn(noted);
  return other ? { ...attributes, [other.name]: other.value } : attributes;
}

function takenIn(noted: MessageAttributeValue | undefined) {
  if (noted?.DataType !== WITH_ANOTHER) return undefined;
  const both = parse(noted.StringValue ?? '');
  if (!isObject(both)) return undefined;
  const { reason, name, type, text, binary } = both as Record<string, string | undefined>;
  const content = binary === undefined ? { StringValue: text } : { BinaryValue: Buffer.from(binary, 'base64') };
  const value: MessageAttributeValue = { DataType: type, ...content };
  return reason === undefined || name === undefined ? undefined : { reason, name, value };
}
