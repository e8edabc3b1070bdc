/** GET /openapi.json: the API reference as an OpenAPI 3.1 document. */
import { z } from 'zod'
import { sendJson } from '../../../base/http/reply.ts'
import type { PlainEndpoint } from '../endpoint.ts'
import { buildOpenapi } from './openapi.ts'
import { describeEndpoint } from './operation.ts'

export const openapi: PlainEndpoint = {
  kind: 'plain',
  method: 'GET',
  paths: ['/openapi.json'],
  envelope: 'flat',
  documentation: {
    summary: 'Machine-readable reference',
    description: 'OpenAPI 3.1, generated from the declarations that validate requests.',
    tag: 'Operations',
    answer: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }),
    example: () => ({}),
  },
  async handle(context, { publicUrl, endpoints }) {
    const operations = endpoints().map((endpoint) => describeEndpoint(endpoint))
    sendJson(context, 200, buildOpenapi({ operations, publicUrl }), {
      'access-control-allow-origin': '*',
    })
  },
}
