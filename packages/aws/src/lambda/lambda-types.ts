// What we need of Lambda's types, so that nobody has to install them for ours.

export interface SqsRecord {
  messageId: string;
  receiptHandle: string;
  body: string;
  messageAttributes: Record<string, { stringValue?: string | undefined; dataType?: string }>;
  eventSourceARN: string;
}

export interface SqsEvent {
  Records: SqsRecord[];
}

export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/** Messages that shall come again; SQS deletes the others. The event source must have `ReportBatchItemFailures`. */
export interface BatchResponse {
  batchItemFailures: { itemIdentifier: string }[];
}
