const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

/** The queue is not there. Old and new protocols of SQS have different words for it. */
export const isMissing = (error: unknown): boolean =>
  ['QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue'].includes(nameOf(error));

export const wasDeletedJustNow = (error: unknown): boolean =>
  ['QueueDeletedRecently', 'AWS.SimpleQueueService.QueueDeletedRecently'].includes(nameOf(error));

/** SQS has read the request and will not have it, however often it comes. */
export function isRefusal(error: unknown): boolean {
  const { $fault, $retryable } = error as { $fault?: string; $retryable?: unknown };
  return $fault === 'client' && $retryable === undefined && !/Throttl|Expired|Token/.test(nameOf(error));
}

/** What an entry of a batch says when its message is gone, visible again or received anew: its receipt is worthless. */
export const isWorthless = (code: string | undefined): boolean =>
  code !== undefined && /ReceiptHandleIsInvalid|InvalidParameterValue|MessageNotInflight|NonExistent/.test(code);
