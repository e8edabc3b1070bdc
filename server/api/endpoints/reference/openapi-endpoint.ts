/** GET /openapi.json: the API reference as an OpenAPI 3.1 document. */
import { z } from 'zod'
import { sendBytes } from '../../../base/http/reply.ts'
import type { PlainEndpoint, PlainServices } from '../endpoint.ts'
import { buildOpenapi } from './openapi.ts'
import { describeEndpoints } from './operation.ts'

const HEADERS = { 'content-type': 'application/json', 'access-control-allow-origin': '*' }

/** The document of each gateway: a megabyte that anybody may ask for, and that never changes. */
const documents = new WeakMap<PlainServices, Promise<Buffer>>()

function documentOf(services: PlainServices): Promise<Buffer> {
  const known = documents.get(services)
  if (known) return known
  const document = writeDocument(services).catch((cause) => {
    // The next request tries again.
    documents.delete(services)
    throw cause
  })
  documents.set(services, document)
  return document
}

async function writeDocument({ publicUrl, endpoints }: PlainServices): Promise<Buffer> {
  const operations = await describeEndpoints(endpoints())
  return Buffer.from(JSON.stringify(buildOpenapi({ operations, publicUrl })))
}

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
  handle: async (context, services) => sendBytes(context, 200, HEADERS, await documentOf(services)),
}
