// What we need of Lambda's types, so that nobody has to install them for ours.

export interface SqsRecord {
  messageId: string;
  receiptHandle: string;
  body: string;
  /** Binary values come as base64. */
  messageAttributes: Record<
    string,
    { stringValue?: string | undefined; binaryValue?: string | undefined; dataType?: string }
  >;
  eventSourceARN: string;
}

export interface SqsEvent {
  Records: SqsRecord[];
}

/** One change of a table, as its stream tells it. */
export interface StreamRecord {
  eventName?: 'INSERT' | 'MODIFY' | 'REMOVE' | undefined;
  dynamodb?:
    | {
        Keys?: Record<string, { S?: string | undefined }> | undefined;
        SequenceNumber?: string | undefined;
      }
    | undefined;
}

export interface StreamEvent {
  Records: StreamRecord[];
}

export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/**
 * What shall come again: messages, the others of which SQS deletes; or of a stream the first record, and all behind it.
 * The event source must have `ReportBatchItemFailures`.
 */
export interface BatchResponse {
  batchItemFailures: { itemIdentifier: string }[];
}
