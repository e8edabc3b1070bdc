/**
 * One server of the edge benchmark, in a process of its own so that its CPU can be measured
 * separately: `upstream` answers, `bare` and `fastify` forward JSON to it with the same handler.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import createRouter from 'find-my-way'
import { Agent } from 'undici'

export interface ServerTask {
  readonly kind: 'upstream' | 'bare' | 'fastify'
  readonly upstream?: string
  /** The folder in which the package `fastify` is installed for this run. */
  readonly fastify?: string
}

const ANSWER = Buffer.from(JSON.stringify({ object: 'chat.completion', text: 'x'.repeat(1_000) }))
const PATHS = Array.from({ length: 40 }, (_, index) => `/v1/other/${index}/:id`)
const agent = new Agent({ connections: 256, pipelining: 1 })

/**
 * The handler of both servers: checks that the body is JSON, forwards it, returns the answer's
 * bytes.
 */
async function passOn(body: Buffer, upstream: string): Promise<Buffer> {
  JSON.parse(body.toString('utf8'))
  const answer = await agent.request({ origin: upstream, path: '/', method: 'POST', body })
  return Buffer.from(await answer.body.arrayBuffer())
}

async function readBody(request: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function startUpstream(): Promise<Server> {
  return listen(
    createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER)
    }),
  )
}

function startBare(upstream: string): Promise<Server> {
  const router = createRouter()
  for (const path of PATHS) router.on('GET', path, () => undefined)
  router.on('POST', '/v1/chat/completions', async (request, response) => {
    const answer = await passOn(await readBody(request), upstream)
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': answer.length,
    })
    response.end(answer)
  })
  return listen(
    createServer((request, response) => router.lookup(request as never, response as never)),
  )
}

/** Starts Fastify with raw bodies, no schema, no hooks and no log. */
async function startFastify(upstream: string, location: string): Promise<number> {
  const { default: fastify } = await import(location)
  const app = fastify({ logger: false })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_: unknown, body: Buffer, done: Done) =>
    done(null, body),
  )
  for (const path of PATHS) app.get(path, () => undefined)
  app.post('/v1/chat/completions', async (request: { body: Buffer }, reply: Reply) => {
    return reply.type('application/json').send(await passOn(request.body, upstream))
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server.address().port
}

type Done = (error: null, body: Buffer) => void
interface Reply {
  type(name: string): Reply
  send(body: Buffer): unknown
}

function listen(server: Server): Promise<Server> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

async function start({ kind, upstream = '', fastify = '' }: ServerTask): Promise<number> {
  if (kind === 'upstream') return portOf(await startUpstream())
  return kind === 'bare' ? portOf(await startBare(upstream)) : startFastify(upstream, fastify)
}

/**
 * Each further message requests the CPU time that this process has used so far, in microseconds.
 */
process.once('message', async (task: ServerTask) => {
  process.send?.(await start(task))
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
})
process.on('disconnect', () => process.exit())
