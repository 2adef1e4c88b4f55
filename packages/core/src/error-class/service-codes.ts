import { byKey, type ErrorClass } from './error-class.ts';

/**
 * Names by which services refuse: AWS by `name` or `Code`, often under a status that says something else
 * (ThrottlingException comes with 400, SlowDown with 503). `unknown` is a decision too: the status 400 of a write that
 * lost a race does not make it a bad request, so the retry policy decides.
 */
const NAMES = byKey({
  rate_limit: [
    ...['TooManyRequestsException', 'TooManyRequests', 'RequestLimitExceeded', 'LimitExceededException', 'SlowDown'],
    ...['ProvisionedThroughputExceededException', 'ProvisionedThroughputExceeded', 'BandwidthLimitExceeded'],
    ...['PriorRequestNotComplete', 'EC2ThrottledException'],
  ],
  auth: [
    ...['UnrecognizedClientException', 'InvalidSignatureException', 'SignatureDoesNotMatch', 'IncompleteSignature'],
    ...['ExpiredTokenException', 'ExpiredToken', 'InvalidAccessKeyId', 'InvalidClientTokenId', 'InvalidToken'],
    ...['MissingAuthenticationToken', 'MissingAuthenticationTokenException', 'NotAuthorized', 'NotAuthorizedException'],
    ...['UnauthorizedException', 'UnauthorizedOperation', 'AuthorizationError', 'AuthFailure', 'OptInRequired'],
    ...['CredentialsProviderError', 'TokenProviderError', 'ForbiddenException', 'AllAccessDisabled'],
  ],
  validation: [
    ...['ValidationException', 'SerializationException', 'InvalidParameterException', 'InvalidParameterValue'],
    ...['InvalidParameterValueException', 'InvalidParameterCombination', 'MissingParameter', 'MalformedQueryString'],
    ...[
      'InvalidRequestException',
      'InvalidArgument',
      'InvalidMessageContents',
      'EntityTooLarge',
      'BadRequestException',
    ],
    ...['ItemCollectionSizeLimitExceededException', 'RequestEntityTooLargeException', 'BatchRequestTooLong'],
  ],
  not_found: ['NotFound', 'QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue', 'ParameterNotFound'],
  timeout: ['RequestTimeout', 'RequestTimeoutException', 'ModelTimeoutException'],
  server_error: [
    ...['InternalServerError', 'InternalServerException', 'InternalError', 'InternalFailure', 'ServiceException'],
    ...['ServiceUnavailable', 'ServiceUnavailableException', 'InternalServiceErrorException', 'ModelErrorException'],
  ],
  unknown: [
    ...['ConditionalCheckFailedException', 'TransactionCanceledException', 'TransactionConflictException'],
    ...['TransactionInProgressException', 'ConflictException', 'ConcurrentModificationException', 'OperationAborted'],
    ...['PreconditionFailed', 'IdempotentParameterMismatchException'],
  ],
});

/** Names that each service spells for itself: UserNotFoundException, NoSuchBucket, KmsThrottlingException. */
const SHAPES: readonly (readonly [pattern: RegExp, ErrorClass])[] = [
  [/^(?:\w+\.)?(?:\w*Throttling(?:Exception)?|\w*Throttled(?:Exception)?)$/, 'rate_limit'],
  [/^\w*AccessDenied(?:Exception)?$/, 'auth'],
  [/^(?:NoSuch[A-Z]\w*|\w+NotFoundException)$/, 'not_found'],
];

/** Types of the body in which the Anthropic API, and others like it, tell an error. */
const API_TYPES = byKey({
  rate_limit: ['rate_limit_error'],
  server_error: ['overloaded_error', 'api_error', 'server_error'],
  timeout: ['timeout_error'],
  auth: ['authentication_error', 'permission_error', 'billing_error'],
  validation: ['invalid_request_error', 'request_too_large'],
  not_found: ['not_found_error'],
});

export const classOfServiceName = (name: string): ErrorClass | undefined =>
  NAMES.get(name) ?? SHAPES.find(([pattern]) => pattern.test(name))?.[1];

export const classOfApiType = (type: string): ErrorClass | undefined => API_TYPES.get(type);
