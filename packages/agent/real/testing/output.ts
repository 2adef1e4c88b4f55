export const OUTPUT = {
  type: 'object',
  properties: { files: { type: 'integer' } },
  required: ['files'],
  additionalProperties: false,
};
