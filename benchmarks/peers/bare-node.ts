/**
 * The simplest possible proxy in Node: `node:http` in, undici out, bodies piped. No key, no limits,
 * no ledger. `node benchmarks/peers/bare-node.ts PORT UPSTREAM_ORIGIN`.
 */
import { createServer } from 'node:http'
import { pipeline } from 'node:stream'
import { Agent } from 'undici'

const port = Number(process.argv[2])
const origin = process.argv[3] ?? ''
const agent = new Agent({ connections: 16_384, pipelining: 1 })

const server = createServer(async (request, response) => {
  try {
    const size = request.headers['content-length']
    const { statusCode, headers, body } = await agent.request({
      origin,
      path: `/openai${request.url}`,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(size === undefined ? {} : { 'content-length': size }),
      },
      body: request,
    })
    const type = String(headers['content-type'])
    const length = headers['content-length']
    response.writeHead(statusCode, {
      'content-type': type,
      ...(typeof length === 'string' ? { 'content-length': length } : {}),
    })
    pipeline(body, response, () => undefined)
  } catch {
    response.destroy()
  }
})
server.listen({ port, host: '127.0.0.1', backlog: 16_384 }, () => console.log('ready'))
