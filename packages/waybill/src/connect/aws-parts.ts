import type { DynamoOptions } from '@waybill/aws/dynamodb';
import type { SqsOptions } from '@waybill/aws/sqs';

/** What a preset says of the queues. */
type OfPreset = 'queuesTenant' | 'visibilitySeconds' | 'receiveVisibilitySeconds' | 'messagesPerReceive';

/** What no address can say of the services of AWS. It counts where the address names that service. */
export interface AwsParts {
  sqs?: Pick<SqsOptions, 'env' | 'queues' | 'createQueues' | 'adopt' | 'timeouts' | OfPreset>;
  dynamodb?: Pick<DynamoOptions, 'createTable' | 'timeouts' | 'shards' | 'largestTransaction'>;
}
