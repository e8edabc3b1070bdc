// GET /models, GET /models/{id}, and the refusal of unlisted models.
import { type Exchange, Refused, type Reply, type Route, whole } from '../kernel/exchange.ts'

export interface ModelList {
  has: (id: string) => boolean
  ids: string[]
  ownedBy: string
}

const CREATED = 1780732857

/** Names that begin with `sim-` always exist, so that tests can invent models. */
export function modelList(ids: string[], ownedBy: string): ModelList {
  return { ids, ownedBy, has: (id) => id.startsWith('sim-') || ids.includes(id) }
}

export function unknownModel(model: string): Refused {
  const message = `The model \`${model}\` does not exist or you do not have access to it.`
  return new Refused({ status: 404, code: 'model_not_found', message })
}

export function modelRoutes(models: ModelList): Route[] {
  const entry = (id: string) => {
    return { id, object: 'model', created: CREATED, owned_by: models.ownedBy }
  }
  const list = (): Reply => whole(200, { object: 'list', data: models.ids.map(entry) })
  const one = (exchange: Exchange): Reply => {
    const id = decodeURIComponent(exchange.path.slice('/models/'.length))
    if (!models.has(id)) throw unknownModel(id)
    return whole(200, entry(id))
  }
  return [
    { method: 'GET', path: '/models', operation: 'models', handle: list },
    { method: 'GET', path: '/models/{id}', operation: 'models', handle: one },
  ]
}
