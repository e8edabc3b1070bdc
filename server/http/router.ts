/** From a request line to a route. Paths are matched by find-my-way; queries never route. */
import createRouter from 'find-my-way'
import { GatewayError } from '../errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Match<Target> {
  readonly target: Target
  readonly pattern: string
  readonly path: string
  readonly query: URLSearchParams
  readonly params: Readonly<Record<string, string | undefined>>
}

export interface Routable<Target> {
  readonly method: Method
  readonly path: string
  readonly target: Target
}

const EMPTY_QUERY = new URLSearchParams()
const ALL_METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Builds the table. The returned function throws 404 for an unknown path and 405 for a known one
 * asked with another method. HEAD is answered as GET.
 */
export function createRoutes<Target>(routes: readonly Routable<Target>[]) {
  const router = createRouter({ ignoreTrailingSlash: true, maxParamLength: 200 })
  const known = new Map<unknown, Routable<Target>>()
  for (const route of routes) {
    const mark = () => undefined
    known.set(mark, route)
    router.on(route.method, route.path, mark)
  }

  return function match(method: string, url: string): Match<Target> {
    const cut = url.indexOf('?')
    const path = cut < 0 ? url : url.slice(0, cut)
    const asked = method === 'HEAD' ? 'GET' : method
    const found = find(asked, path)
    const route = found && known.get(found.handler)
    if (!found || !route) throw missing(path)
    return {
      target: route.target,
      pattern: route.path,
      path,
      query: cut < 0 ? EMPTY_QUERY : new URLSearchParams(url.slice(cut + 1)),
      params: found.params,
    }
  }

  function find(method: string, path: string) {
    try {
      return router.find(method as Method, path)
    } catch {
      // A path that does not decode names nothing.
      return null
    }
  }

  function missing(path: string): GatewayError {
    const other = ALL_METHODS.filter((method) => find(method, path))
    if (other.length === 0) return new GatewayError('not_found', { message: 'no such path' })
    return new GatewayError('method_not_allowed', {
      message: `method not allowed on this path: use ${other.join(' or ')}`,
    })
  }
}
