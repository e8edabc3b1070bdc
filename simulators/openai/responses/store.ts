// Responses that were stored, for GET, DELETE, input_items and previous_response_id.
import type { Json } from '../../kernel/checks.ts'
import { type Exchange, Refused, type Reply, type Route, whole } from '../../kernel/exchange.ts'
import { nextId } from '../../kernel/identifiers.ts'

interface Stored {
  response: Json
  /** The input of this response alone. */
  input: Json[]
  /** The whole conversation up to and including its output. */
  items: Json[]
}

const KEPT = 1000

export class ResponseStore {
  private readonly stored = new Map<string, Stored>()

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
  }
}

export function storeRoutes(store: ResponseStore): Route[] {
  const found = ({ path }: Exchange): { id: string; entry: Stored } => {
    const id = decodeURIComponent(path.split('/')[2] ?? '')
    const entry = store.get(id)
    if (!entry) {
      const message = `Response with id '${id}' not found.`
      throw new Refused({ status: 404, code: 'response_not_found', message })
    }
    return { id, entry }
  }
  const get = (exchange: Exchange): Reply => whole(200, found(exchange).entry.response)
  const remove = (exchange: Exchange): Reply => {
    const { id } = found(exchange)
    store.delete(id)
    return whole(200, { id, object: 'response', deleted: true })
  }
  const cancel = (exchange: Exchange): Reply => {
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
      ...{ method: 'GET', path: '/responses/{id}/input_items', operation },
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
