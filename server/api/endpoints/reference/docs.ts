/** GET /docs and below: reference and guides; GET /llms.txt: their contents for programs. */

import type { Context } from '../../../base/http/context.ts'
import { sendBytes } from '../../../base/http/reply.ts'
import type { Endpoint, PlainEndpoint, PlainServices } from '../endpoint.ts'
import { isServed, meteringOf } from '../serving.ts'
import { describeEndpoints } from './operation.ts'
import { PAGE_HEADERS } from './page/frame.ts'
import { listReferencePages, pathOf, type ReferencePage, renderPage } from './page/page.ts'
import { readSite, type Site, sendSite } from './site.ts'

type Services = Pick<PlainServices, 'catalog' | 'endpoints' | 'upstreams'>

async function listPages(services: Services) {
  const models = [...services.catalog.snapshot().models.values()]
  // Endpoints that take any model, such as those that count tokens, are shown with one of chat.
  const modelOf = (endpoint: Endpoint) =>
    models.find((model) =>
      meteringOf(endpoint) ? isServed(endpoint, model, services) : model.type === 'chat',
    )?.id
  return listReferencePages(await describeEndpoints(services.endpoints(), modelOf))
}

/** Sends a page of the reference, or else of the site. */
async function sendPage(context: Context, services: PlainServices, slug: string): Promise<void> {
  const pages = await listPages(services)
  const page = pages.find((one) => one.slug === slug)
  if (!page) return sendSite(context, slug)
  const text = renderPage(pages, page, services.publicUrl, await readSite())
  sendBytes(context, 200, PAGE_HEADERS, Buffer.from(text))
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
    summary: 'One page of the documentation',
    description:
      'The calls of one group, with code in curl, Python and JavaScript, or a page such as ' +
      '`guides`, the contents of all guides. 503: the guides are not built.',
    tag: 'Operations',
    answerType: 'text/html',
    errors: [404, 503],
    example: () => ({ path: '/docs/text' }),
  },
  handle: async (context, services) => sendPage(context, services, context.params.page ?? ''),
}

export const docsGuide: PlainEndpoint = {
  kind: 'plain',
  method: 'GET',
  paths: ['/docs/:folder/:page'],
  envelope: 'flat',
  documentation: {
    summary: 'A guide, or a file of the documentation',
    description: 'Also decisions and vendors’ protocols. 503: the guides are not built.',
    tag: 'Operations',
    answerType: 'text/html',
    errors: [404, 503],
    example: () => ({ path: '/docs/guides/operate' }),
  },
  handle: (context) => sendSite(context, `${context.params.folder}/${context.params.page}`),
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
    const pages = await listPages(services)
    const text = renderContentsFile(pages, services.publicUrl, await readSite())
    sendBytes(context, 200, TEXT_HEADERS, Buffer.from(text))
  },
}

/** The contents of the reference in the form of llms.txt: Markdown with a link to each call. */
function renderContentsFile(
  pages: readonly ReferencePage[],
  publicUrl: string,
  site?: Site,
): string {
  const guides = (site?.navigation ?? []).map(({ title, pages: listed }) => {
    const lines = listed.map((one) => `- [${one.title}](${publicUrl}/docs/${one.address})`)
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
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

${[...guides, ...sections].join('\n')}`
}
