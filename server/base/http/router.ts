/** Routes requests by path with find-my-way; queries do not affect routing. */
import createRouter from 'find-my-way'
import { GatewayError } from '../lib/errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Match<Target> {
  readonly target: Target
  readonly pattern: string
  readonly path: string
  readonly query: URLSearchParams
  readonly params: Readonly<Record<string, string | undefined>>
}

/** A request without a matching route. */
export interface Miss<Target> {
  readonly refused: GatewayError
  /** The route that was probably intended, whose error format the caller expects. */
  readonly intended: Target | undefined
}

export interface Routable<Target> {
  readonly method: Method
  readonly path: string
  readonly target: Target
}

/** Explains paths of other protocols. */
export interface PathHint {
  readonly pattern: RegExp
  /** States what is not offered, and what to use instead. */
  readonly message: string
}

/**
 * Longer than any request line, so that overlong ids are refused when they are looked up instead.
 */
const PATH_LENGTH_MAX = 65_536
const UNKNOWN_CHARACTER = encodeURIComponent('\uFFFD')
const EMPTY_QUERY = new URLSearchParams()
const ALL_METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** The most parts of a vendor's base URL before the path of an endpoint. */
const PREFIX_PARTS_MAX = 4

/** Replaces segments that do not decode, so that such an id is treated as an unknown one. */
function makeDecodable(path: string): string {
  return path.split('/').map(decodes).join('/')
}

function decodes(segment: string): string {
  // Found without an exception, of which a path may cause thousands.
  if (/%(?![\da-f]{2})/i.test(segment)) return UNKNOWN_CHARACTER
  try {
    decodeURIComponent(segment)
    return segment
  } catch {
    return UNKNOWN_CHARACTER
  }
}

/**
 * Builds the routing table. The returned function refuses an unknown path with 404, and a known
 * path with another method with 405. HEAD is routed as GET.
 */
export function createRoutes<Target>(
  routes: readonly Routable<Target>[],
  hints: readonly PathHint[] = [],
) {
  const router = createRouter({ ignoreTrailingSlash: true, maxParamLength: PATH_LENGTH_MAX })
  const known = new Map<unknown, Routable<Target>>()
  for (const route of routes) {
    const mark = () => undefined
    known.set(mark, route)
    router.on(route.method, route.path, mark)
  }

  return function match(method: string, url: string): Match<Target> | Miss<Target> {
    const cut = url.indexOf('?')
    const path = cut < 0 ? url : url.slice(0, cut)
    const routedMethod = method === 'HEAD' ? 'GET' : method
    // Once, as a path without a route is looked up in many forms.
    const decodable = path.includes('%') ? makeDecodable(path) : path
    const found = find(routedMethod, decodable)
    const route = found && known.get(found.handler)
    if (!found || !route) return miss(routedMethod, decodable)
    return {
      target: route.target,
      pattern: route.path,
      path,
      query: cut < 0 ? EMPTY_QUERY : new URLSearchParams(url.slice(cut + 1)),
      params: found.params,
    }
  }

  function find(method: string, path: string) {
    return router.find(method as Method, path)
  }

  function miss(method: string, path: string): Miss<Target> {
    const corrected = routeOf(method, correctVersion(path))
    const unsupported = hints.find(({ pattern }) => pattern.test(path))
    if (unsupported && !corrected) {
      const refused = new GatewayError('not_found', {
        message: `no such path: ${unsupported.message}`,
      })
      return { refused, intended: undefined }
    }
    const allow = ALL_METHODS.filter((other) => find(other, path))
    if (allow.length > 0) {
      const message = `method not allowed on this path: use ${allow.join(' or ')}`
      const refused = new GatewayError('method_not_allowed', { message, allow })
      return { refused, intended: routeOf(allow[0] ?? 'GET', path)?.target }
    }
    const intended = corrected ?? routeBelowPrefix(method, path)
    const hint = intended ? `did you mean ${readable(intended.path)}?` : 'GET /docs lists all'
    const refused = new GatewayError('not_found', { message: `no such path: ${hint}` })
    return { refused, intended: intended?.target }
  }

  /** Finds the route that is meant below a vendor's base URL, for example `/openai/v1`. */
  function routeBelowPrefix(method: string, path: string): Routable<Target> | undefined {
    const parts = path.split('/').filter(Boolean)
    for (let length = 1; length <= PREFIX_PARTS_MAX && length < parts.length; length += 1) {
      const rest = `/${parts.slice(length).join('/')}`
      const route = routeOf(method, `/v1${rest}`) ?? routeOf(method, rest)
      if (route) return route
    }
    return undefined
  }

  function routeOf(method: string, path: string): Routable<Target> | undefined {
    return known.get(find(method, path)?.handler)
  }
}

/**
 * Corrects a common mistake: a base URL without the version, one that ends in a slash, one of an
 * endpoint, or a client that adds the version twice.
 */
function correctVersion(path: string): string {
  const single = path.replaceAll(/\/{2,}/g, '/')
  const once = withoutRepeated(single).replace(/^\/(v1(?:beta)?)\/\1\//, '/$1/')
  return once === path ? `/v1${path}` : once
}

/** Returns a path without its last one to three parts if the same ones precede them. */
function withoutRepeated(path: string): string {
  const parts = path.split('/')
  const count = [1, 2, 3].find((length) => {
    const last = parts.slice(-length).join('/')
    return last !== '' && last === parts.slice(-2 * length, -length).join('/')
  })
  return count === undefined ? path : parts.slice(0, -count).join('/')
}

/** Returns a route's path without the patterns of its parameters. */
function readable(path: string): string {
  return path.replaceAll('(^.+)', '').replaceAll('::', ':')
}
