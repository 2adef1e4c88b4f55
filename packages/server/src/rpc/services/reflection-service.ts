import { type DescFile, type DescService, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Code, type ServiceImpl } from '@connectrpc/connect';
import { ErrorInfoSchema, type reflection, type reflectionAlpha } from '@waybill/protocol';

type Asked = reflection.ServerReflectionRequest['messageRequest'];
type Request = reflection.ServerReflectionRequest;
type Response = MessageInitShape<typeof reflection.ServerReflectionResponseSchema>;

/** All files that services need, and where each name is defined. */
class Schema {
  readonly #files = new Map<string, DescFile>();
  readonly #fileOf = new Map<string, DescFile>();

  constructor(services: readonly DescService[]) {
    for (const service of services) this.#add(service.file);
    // No service imports it: it travels in the details of errors.
    this.#add(ErrorInfoSchema.file);
  }

  #add(file: DescFile): void {
    if (this.#files.has(file.proto.name)) return;
    this.#files.set(file.proto.name, file);
    for (const service of file.services) {
      this.#fileOf.set(service.typeName, file);
      for (const method of service.methods) this.#fileOf.set(`${service.typeName}.${method.name}`, file);
    }
    const messages = [...file.messages];
    for (let next = messages.pop(); next; next = messages.pop()) {
      this.#fileOf.set(next.typeName, file);
      for (const field of next.fields) this.#fileOf.set(`${next.typeName}.${field.name}`, file);
      for (const one of next.nestedEnums) this.#fileOf.set(one.typeName, file);
      messages.push(...next.nestedMessages);
    }
    for (const one of file.enums) this.#fileOf.set(one.typeName, file);
    for (const dependency of file.dependencies) this.#add(dependency);
  }

  named(name: string): Uint8Array[] | undefined {
    return this.#withNeeded(this.#files.get(name));
  }

  defining(symbol: string): Uint8Array[] | undefined {
    return this.#withNeeded(this.#fileOf.get(symbol));
  }

  /** With all that it needs, so that a client asks once. */
  #withNeeded(file: DescFile | undefined): Uint8Array[] | undefined {
    if (!file) return undefined;
    const needed = new Map<string, FileDescriptorProto>();
    const open = [file];
    for (let next = open.pop(); next; next = open.pop()) {
      if (needed.has(next.proto.name)) continue;
      needed.set(next.proto.name, next.proto);
      open.push(...next.dependencies);
    }
    return [...needed.values()].map((proto) => toBinary(FileDescriptorProtoSchema, proto));
  }
}

function answerOf(schema: Schema, asked: Asked, services: readonly DescService[]) {
  const files = (found: Uint8Array[] | undefined, name: string) =>
    found
      ? ({ case: 'fileDescriptorResponse', value: { fileDescriptorProto: found } } as const)
      : missing(`'${name.slice(0, 200)}' is not defined here.`);
  switch (asked.case) {
    case 'listServices':
      return {
        case: 'listServicesResponse',
        value: { service: services.map(({ typeName: name }) => ({ name })) },
      } as const;
    case 'fileByFilename':
      return files(schema.named(asked.value), asked.value);
    case 'fileContainingSymbol':
      return files(schema.defining(asked.value), asked.value);
    case 'allExtensionNumbersOfType':
      return { case: 'allExtensionNumbersResponse', value: { baseTypeName: asked.value } } as const;
    case 'fileContainingExtension':
      return missing('There are no extensions here.');
    case undefined:
      return {
        case: 'errorResponse',
        value: { errorCode: Code.InvalidArgument, errorMessage: 'Ask for something.' },
      } as const;
  }
}

const missing = (errorMessage: string) =>
  ({ case: 'errorResponse', value: { errorCode: Code.NotFound, errorMessage } }) as const;

/** The reflection protocol of gRPC, by which clients such as `buf curl` learn what there is. Both versions answer the same. */
export function reflectionServices(services: readonly DescService[]): {
  v1: ServiceImpl<typeof reflection.ServerReflection>;
  alpha: ServiceImpl<typeof reflectionAlpha.ServerReflection>;
} {
  const schema = new Schema(services);
  async function* serverReflectionInfo(requests: AsyncIterable<Request>) {
    for await (const { host, messageRequest } of requests) {
      const messageResponse = answerOf(schema, messageRequest, services);
      yield { validHost: host, originalRequest: { host, messageRequest }, messageResponse } as Response;
    }
  }
  // Their messages differ by name alone.
  return { v1: { serverReflectionInfo }, alpha: { serverReflectionInfo: serverReflectionInfo as never } };
}
