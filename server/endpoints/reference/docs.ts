/** GET /docs: the API reference as a page. */
import { sendBytes } from '../../http/reply.ts'
import type { PlainEndpoint } from '../endpoint.ts'
import { describeEndpoint } from './operation.ts'
import { PAGE_HEADERS, renderPage } from './page/page.ts'

export const docs: PlainEndpoint = {
  kind: 'plain',
  method: 'GET',
  paths: ['/docs'],
  envelope: 'flat',
  documentation: {
    summary: 'API reference',
    tag: 'Operations',
    answerType: 'text/html',
    example: () => ({}),
  },
  async handle(context, { catalog, publicUrl, endpoints }) {
    const models = [...catalog.snapshot().models.values()]
    const modelOf = (types: readonly string[]) =>
      models.find(({ type }) => types.length === 0 || types.includes(type))?.id
    const operations = endpoints().map((endpoint) => describeEndpoint(endpoint, modelOf))
    sendBytes(context, 200, PAGE_HEADERS, Buffer.from(renderPage(operations, publicUrl)))
  },
}
