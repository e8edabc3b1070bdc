/** The `fetch` with which providers are asked: through the guard, within limits, no redirects. */
import type { Guard } from '../../base/outbound/guard.ts'

const ANSWER_MS = 10_000
const BYTES_MAX = 1 << 20

export function createGuardedFetch(guard: Pick<Guard, 'request'>) {
  return async (url: string, init: RequestInit): Promise<Response> => {
    const { method = 'GET', headers, body, signal } = init
    const bytes = body ? Buffer.from(await new Response(body).arrayBuffer()) : undefined
    const result = await guard.request({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(headers)),
      ...(bytes ? { body: bytes } : {}),
      ...(signal ? { signal } : {}),
      budgetMs: ANSWER_MS,
      bodyMs: ANSWER_MS,
      bodyBytesMax: BYTES_MAX,
    })
    if (result.outcome !== 'answered') throw new Error(result.message)
    if (result.truncated) throw new Error('the answer is longer or slower than allowed')
    const isBare = result.status === 204 || result.status === 205 || result.status === 304
    return new Response(isBare ? null : new Uint8Array(result.body), {
      status: result.status,
      headers: flatten(result.headers),
    })
  }
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>) {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  )
  return new Headers(lines)
}
