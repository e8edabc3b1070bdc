// Stored responses, for GET, DELETE, input_items and previous_response_id.
import type { Json } from '../../kernel/checks.ts'
import { type Exchange, Refused, type Reply, type Route, whole } from '../../kernel/exchange.ts'
import { nextId } from '../../kernel/identifiers.ts'
import { type BackgroundJob, readJob } from './background.ts'

interface Stored {
  response: Json
  /** The input of this response alone. */
  input: Json[]
  /** The whole conversation, including its output. */
  items: Json[]
}

const KEPT = 1000

export class ResponseStore {
  private readonly stored = new Map<string, Stored>()
  private readonly jobs = new Map<string, BackgroundJob>()

  put(response: Json, input: Json[], earlier: Json[]): void {
    const output = Array.isArray(response.output) ? response.output : []
    const items = [...earlier, ...input, ...output]
    this.stored.set(String(response.id), { response, input, items })
    const oldest = this.stored.keys().next().value
    if (this.stored.size > KEPT && oldest !== undefined) this.stored.delete(oldest)
  }

  get(id: string): Stored | undefined {
    return this.stored.get(id)
  }

  delete(id: string): void {
    this.stored.delete(id)
    this.jobs.get(id)?.cancel()
    this.jobs.delete(id)
  }

  /** Stores a background response, which can be found by its id from now on. */
  run(job: BackgroundJob): void {
    this.jobs.set(job.id, job)
    const oldest = this.jobs.keys().next().value
    if (this.jobs.size > KEPT && oldest !== undefined) this.jobs.delete(oldest)
  }

  job(id: string): BackgroundJob | undefined {
    const job = this.jobs.get(id)
    return job?.isReadable ? job : undefined
  }

  isForgotten(id: string): boolean {
    return this.jobs.get(id)?.isReadable === false
  }
}

export function storeRoutes(store: ResponseStore): Route[] {
  const idOf = ({ path }: Exchange) => decodeURIComponent(path.split('/')[2] ?? '')
  const notFound = (id: string) => {
    const message = `Response with id '${id}' not found.`
    return new Refused({ status: 404, code: 'response_not_found', message })
  }
  const found = (exchange: Exchange): { id: string; entry: Stored } => {
    const id = idOf(exchange)
    const entry = store.get(id)
    if (!entry || store.isForgotten(id)) throw notFound(id)
    return { id, entry }
  }
  const get = (exchange: Exchange): Reply => {
    const job = store.job(idOf(exchange))
    if (job) return readJob(exchange, job)
    const { entry } = found(exchange)
    if (new URLSearchParams(exchange.query).get('stream') !== 'true') {
      return whole(200, entry.response)
    }
    const message = 'Only responses that were made in the background can be streamed.'
    throw new Refused({ status: 400, param: 'stream', message })
  }
  const remove = (exchange: Exchange): Reply => {
    const id = idOf(exchange)
    if (!store.job(id)) found(exchange)
    store.delete(id)
    return whole(200, { id, object: 'response', deleted: true })
  }
  const cancel = (exchange: Exchange): Reply => {
    const job = store.job(idOf(exchange))
    if (job) {
      job.cancel()
      return whole(200, job.show())
    }
    found(exchange)
    const message = 'Cannot cancel a synchronous response.'
    throw new Refused({ status: 400, message })
  }
  const operation = 'responses'
  return [
    { method: 'GET', path: '/responses/{id}', operation, handle: get },
    { method: 'DELETE', path: '/responses/{id}', operation, handle: remove },
    { method: 'POST', path: '/responses/{id}/cancel', operation, handle: cancel },
    {
      method: 'GET',
      path: '/responses/{id}/input_items',
      operation,
      handle: (exchange) => inputItems(exchange, found(exchange).entry),
    },
  ]
}

function inputItems(exchange: Exchange, { input }: Stored): Reply {
  const query = new URLSearchParams(exchange.query)
  const limit = Number(query.get('limit') ?? 20)
  const ordered = query.get('order') === 'asc' ? input : input.toReversed()
  const data = ordered.slice(0, limit).map((item) => ({ id: `item_${nextId()}`, ...item }))
  return whole(200, {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: ordered.length > limit,
  })
}
