import { STORES } from './testing/access-walk/stores.ts';
import { testProducer } from './testing/test-producer.ts';

testProducer(STORES.dynamodb);
