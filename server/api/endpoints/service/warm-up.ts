/**
 * Does what a call does before the first one comes: compiles the code of its path, reads and plans
 * its statements, and loads the client for upstreams. Nothing is written, charged or sent away.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { Sql } from 'postgres'
import { newId } from '../../../base/lib/ids.ts'
import type { Log } from '../../../base/lib/log.ts'
import { findKeys } from '../../../money/accounts/store.ts'
import { dryRunCall } from '../../../work/pipeline/hold/dry-run.ts'
import type { Services } from '../../../work/pipeline/services.ts'
import { chatCompletions } from '../text/chat-completions.ts'

/** The sessions of a pool that are kept when they are idle. */
const SESSIONS = 2
/** Code is compiled in full once it has run a few times. */
const RUNS = 20
/** Over a slow network the start does not wait for all of it. */
const PATIENCE_MS = 1_000

/** Never rejects: what could not be done is done by the first calls. */
export async function warmUp(parts: {
  readonly sql: Sql
  readonly services: Services
  readonly listener: RequestListener
  /** Runs the statements of the ledger once. */
  readonly rehearseMoves: () => Promise<void>
  readonly log: Log
}): Promise<void> {
  const { sql, services, listener, rehearseMoves, log } = parts
  const rehearseStatements = async () => {
    await findKeys(sql, [randomBytes(32)])
    await rehearseMoves()
  }
  const report = (error: unknown) => log.info({ error }, 'the first calls may be slower')
  const all = Promise.all(
    [
      ...Array.from({ length: SESSIONS }, rehearseStatements),
      rehearseRequests(services),
      rehearseConnection(services, listener),
    ].map((work) => work.catch(report)),
  )
  const late = new Promise((resolve) => void setTimeout(resolve, PATIENCE_MS).unref())
  await Promise.race([all, late])
}

/** Validates and prices requests for the first model of the catalog that takes them. */
async function rehearseRequests(services: Services): Promise<void> {
  const { metering } = chatCompletions
  const models = services.catalog.snapshot().models.values()
  const model = [...models].find(({ type }) => metering.modelTypes.includes(type))
  if (!model) return
  const customer = {
    accountId: newId('acct'),
    currency: model.currency,
    priceList: null,
    models: null,
  }
  const messages = [{ role: 'user', content: 'hello' }]
  for (let run = 0; run < RUNS; run += 1) {
    const value = { model: model.id, messages, max_tokens: 20, stream: run % 2 === 0 }
    const request = { value, query: new URLSearchParams(), headers: {}, requestId: newId('req') }
    await dryRunCall(metering, request, customer, services)
  }
}

/** Asks this process for its health, over a connection of the client for upstreams. */
async function rehearseConnection({ dispatcher }: Services, listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const origin = `http://127.0.0.1:${port}`
    const { body } = await dispatcher.request({ origin, path: '/healthz', method: 'GET' })
    await body.dump()
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
