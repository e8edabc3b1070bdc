/** GET /docs and below: the API reference as pages; GET /llms.txt: its contents for programs. */

import type { Context } from '../../../base/http/context.ts'
import { sendBytes } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { Endpoint, PlainEndpoint, PlainServices } from '../endpoint.ts'
import { isServed, meteringOf } from '../serving.ts'
import { describeEndpoint } from './operation.ts'
import {
  listReferencePages,
  PAGE_HEADERS,
  pathOf,
  type ReferencePage,
  renderPage,
} from './page/page.ts'

type Services = Pick<PlainServices, 'catalog' | 'endpoints' | 'upstreams'>

function listPages(services: Services) {
  const models = [...services.catalog.snapshot().models.values()]
  const modelOf = (endpoint: Endpoint) =>
    models.find((model) => !meteringOf(endpoint) || isServed(endpoint, model, services))?.id
  const endpoints = services.endpoints()
  return listReferencePages(endpoints.map((one) => describeEndpoint(one, modelOf(one))))
}

function sendPage(context: Context, services: PlainServices, slug: string): void {
  const pages = listPages(services)
  const page = pages.find((one) => one.slug === slug)
  if (!page) throw new GatewayError('not_found', { message: 'no such page' })
  sendBytes(context, 200, PAGE_HEADERS, Buffer.from(renderPage(pages, page, services.publicUrl)))
}

export const docs: PlainEndpoint = {
  kind: 'plain',
  method: 'GET',
  paths: ['/docs'],
  envelope: 'flat',
  documentation: {
    summary: 'API reference',
    description: 'The basics for people: keys, costs, retries, streams and errors.',
    tag: 'Operations',
    answerType: 'text/html',
    example: () => ({}),
  },
  handle: async (context, services) => sendPage(context, services, ''),
}

export const docsPage: PlainEndpoint = {
  kind: 'plain',
  method: 'GET',
  paths: ['/docs/:page'],
  envelope: 'flat',
  documentation: {
    summary: 'One page of the API reference',
    description: 'The calls of one group, with code in curl, Python and JavaScript.',
    tag: 'Operations',
    answerType: 'text/html',
    errors: [404],
    example: () => ({ path: '/docs/text' }),
  },
  handle: async (context, services) => sendPage(context, services, context.params.page ?? ''),
}

const TEXT_HEADERS = { 'content-type': 'text/plain; charset=utf-8' }

export const llmsTxt: PlainEndpoint = {
  kind: 'plain',
  method: 'GET',
  paths: ['/llms.txt'],
  envelope: 'flat',
  documentation: {
    summary: 'Contents of the API reference, for programs',
    description: 'Markdown with a link to each call.',
    tag: 'Operations',
    answerType: 'text/plain',
    example: () => ({}),
  },
  async handle(context, services) {
    const text = renderContentsFile(listPages(services), services.publicUrl)
    sendBytes(context, 200, TEXT_HEADERS, Buffer.from(text))
  },
}

/** The contents of the reference in the form of llms.txt: Markdown with a link to each call. */
function renderContentsFile(pages: readonly ReferencePage[], publicUrl: string): string {
  const groups = pages.filter(({ operations }) => operations.length > 0)
  const sections = groups.map((page) => {
    const lines = page.operations.map(
      ({ id, method, paths, summary }) =>
        `- [${method} ${paths[0]}](${publicUrl}${pathOf(page)}#${id}): ${summary}`,
    )
    return `## ${page.title}\n\n${lines.join('\n')}\n`
  })
  return `# Tributary

> A gateway to AI models: one address and one key for many vendors. The most a call can cost is put
> on hold before it is sent, and every charge is explained line by line.

All paths start with ${publicUrl}. Send a key as \`Authorization: Bearer tr-…\`; scripts send an
access token, \`tra-…\`, to the paths below /admin.

- [OpenAPI 3.1](${publicUrl}/openapi.json): every call with its schemas
- [Basics](${publicUrl}/docs): keys, costs, retries, streams, errors

${sections.join('\n')}`
}
